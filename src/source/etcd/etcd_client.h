#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "source/etcd/etcd_messages.h"
#include "source/etcd/etcd_options.h"
#include "source/platform/grpc_link.h"

namespace fairlead::source {

// Calls of etcd's API v3 over gRPC, each on a connection of its own; blocks. Asks one member, and the next
// one where that does not answer. Logs in where there is a user. For one thread, but for Stop.
class EtcdClient {
 public:
  explicit EtcdClient(EtcdOptions options);

  // KV.Range of all keys that begin with a prefix, page by page, as of one revision. OutOfRange where that
  // was compacted meanwhile; ResourceExhausted for more than Options::most_keys.
  absl::StatusOr<EtcdRange> ReadAll(const std::string& prefix);
  absl::StatusOr<EtcdRange> Read(const EtcdRangeRequest& request);
  absl::StatusOr<EtcdOutcome> Write(const std::vector<EtcdWrite>& writes);
  // A call with one answer: "/etcdserverpb.KV/Compact".
  absl::StatusOr<std::string> Call(const std::string& path, std::string_view request);

  // Calls that follow end by then, up to one connection later. Never by default.
  void SetDeadline(Clock::time_point deadline) { deadline_ = deadline; }

  // Watch.Watch until it fails or `take` says no. OutOfRange where the revision is compacted.
  absl::Status Watch(const EtcdWatchRequest& request, const std::function<bool(EtcdNews news)>& take);

  // Ends what runs, with Cancelled, and all that follows. Thread-safe.
  void Stop() { link_.Stop(); }

 private:
  absl::Status LogIn();
  GrpcLink::Metadata MetadataOfCall() const;
  absl::StatusOr<std::string> CallOnce(const std::string& path, std::string_view request);
  absl::Status WatchOnce(const EtcdWatchRequest& request, const std::function<bool(EtcdNews news)>& take);
  bool TakeMessage(const std::string& message, EtcdNews* pending, absl::Status* status,
                   const std::function<bool(EtcdNews news)>& take) const;

  const EtcdOptions options_;
  GrpcLink link_;
  std::string token_;  // "": not logged in
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_
