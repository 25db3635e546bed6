#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_API_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_API_H_

#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "config/object.h"
#include "kube/api_request.h"
#include "source/etcd/etcd_client.h"
#include "source/etcd/etcd_options.h"

namespace fairlead::source {

// As much of an API server's API about single objects as control planes write with, kept in etcd. A resource
// version is the revision of the key. Every write is a transaction that asks for the revision that was read.
//   statuses        read and patched; kept beside the objects (PREFIX-control/status/KIND/NAMESPACE/NAME), so
//                   that a written status is no change of an object. One counts only for the revision of the
//                   object that it was made of.
//   WorkloadEntries read, made, patched and deleted, as the objects that they are, with their status. Those
//                   that proxies register have the lease of this process.
//   Leases          PREFIX-control/leader/NAME, with a lease of etcd's: a lock goes with its holder, whatever
//                   the clocks of machines say. One without a holder is deleted.
//   Secrets         PREFIX-control/secrets/NAMESPACE/NAME, sealed; NotFound where there is no key for that.
// Everything else is NotFound. Thread-safe, with a client for each call.
class EtcdApi {
 public:
  // `sealing_key`: "" for none. `entry_seconds`: how long the entries of a process outlive it.
  EtcdApi(const EtcdOptions& options, std::string sealing_key, int64_t entry_seconds);

  // Blocks. The statuses are those of ApiAnswer.
  absl::StatusOr<std::string> Answer(EtcdClient& client, const kube::ApiRequest& request);

  // Keeps the lease of registered entries alive; to be called a few times in `entry_seconds`.
  void KeepEntries(EtcdClient& client);

 private:
  using Json = nlohmann::json;
  struct Place;   // what a path names
  struct Found {  // a key with a document
    EtcdKey key;
    Json document;
  };
  // A lease of this process.
  struct LeaseSlot {
    std::mutex mutex;
    int64_t id = 0;            // 0: none yet, or it is over; guarded by mutex
    Clock::time_point kept{};  // when it was last asked for or kept alive; likewise
  };
  static std::optional<Place> PlaceOf(const kube::ApiRequest& request);
  absl::StatusOr<std::string> AnswerLock(EtcdClient& client, const kube::ApiRequest& request,
                                         const Place& place);
  absl::StatusOr<std::string> AnswerSecret(EtcdClient& client, const kube::ApiRequest& request,
                                           const Place& place);
  absl::StatusOr<std::string> AnswerEntry(EtcdClient& client, const kube::ApiRequest& request,
                                          const Place& place);
  absl::StatusOr<std::string> PatchEntry(EtcdClient& client, const Json& patch, const Place& place,
                                         Found found);
  absl::StatusOr<std::string> AnswerStatus(EtcdClient& client, const kube::ApiRequest& request,
                                           const Place& place);
  absl::StatusOr<std::string> WriteStatus(EtcdClient& client, const kube::ApiRequest& request,
                                          const EtcdKey& object, const std::string& key,
                                          const EtcdKey* known);
  absl::StatusOr<std::string> WriteSecret(EtcdClient& client, const std::string& key, const Json& texts,
                                          int64_t expected);
  absl::StatusOr<int64_t> Lease(EtcdClient& client, LeaseSlot* slot, int64_t seconds);
  // The revision; the key has the lease then.
  absl::StatusOr<int64_t> WriteLeased(EtcdClient& client, EtcdWrite write, LeaseSlot* slot, int64_t seconds,
                                      const absl::Status& lost);

  const std::string prefix_, control_;
  const std::string sealing_key_;
  const int64_t entry_seconds_;
  LeaseSlot lock_lease_, entry_lease_;
};

// "PREFIX-control/status/KIND/NAMESPACE/NAME".
std::string EtcdStatusKeyOf(const config::ObjectKey& object, std::string_view control_prefix);

// The status that is kept for an object, as JSON, with the revision of the object that it was made of.
struct EtcdStatus {
  nlohmann::ordered_json status;
  int64_t revision = 0;
};
std::optional<EtcdStatus> ReadEtcdStatus(std::string_view value);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_API_H_
