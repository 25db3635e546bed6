#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_STORE_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_STORE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "config/object.h"
#include "fetch/whole_answer.h"
#include "kube/api_request.h"
#include "source/etcd/etcd_api.h"
#include "source/etcd/etcd_client.h"
#include "source/etcd/etcd_options.h"

namespace fairlead::source {

// The etcd in which replicas of a control plane keep what they write: EtcdApi with threads of its own, the
// leases of this process, and a watch of the authority's Secrets.
class EtcdStore {
 public:
  struct Options {
    EtcdOptions etcd;
    int64_t entry_seconds = 600;  // how long registered entries outlive the process that had their proxies
    size_t most_at_once = 4;
  };
  // FailedPrecondition where the file of the sealing key cannot be used.
  static absl::StatusOr<std::unique_ptr<EtcdStore>> Open(Options options);
  ~EtcdStore();  // as Stop()

  // A kube::ApiWriter::Transport. After Stop `done` is not called. Thread-safe.
  void Ask(kube::ApiRequest request, std::function<void(fetch::WholeAnswer)> done);
  // The same, but blocks.
  kube::ApiAnswer AskAndWait(const kube::ApiRequest& request);

  // Statuses of objects that are gone are deleted; those of the others. Blocks.
  absl::StatusOr<std::vector<config::ObjectKey>> SweepStatuses();

  bool keeps_authority() const { return !options_.etcd.ca_key_file.empty(); }
  // `changed` is called whenever Secrets may have changed, on a thread of the store's. Once.
  void WatchSecrets(std::function<void()> changed);
  void Stop();

 private:
  EtcdStore(Options options, std::string sealing_key);
  kube::ApiAnswer AnswerWith(EtcdClient& client, const kube::ApiRequest& request);
  EtcdClient* Borrow();
  void Return(EtcdClient* client);
  bool Pause(std::chrono::milliseconds time);
  void KeepLeases();
  void Watch(const std::function<void()>& changed);

  const Options options_;
  EtcdApi api_;
  EtcdClient urgent_client_, lease_client_, watch_client_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;                             // guarded by mutex_
  Clock::time_point down_until_{};                    // likewise: nobody is asked before
  std::vector<std::unique_ptr<EtcdClient>> clients_;  // all but those above
  std::vector<EtcdClient*> free_;                     // guarded by mutex_
  Executor urgent_{"etcd-urgent", 1}, patient_;
  std::thread leases_, watch_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_STORE_H_
