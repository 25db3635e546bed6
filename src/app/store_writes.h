#ifndef FAIRLEAD_APP_STORE_WRITES_H_
#define FAIRLEAD_APP_STORE_WRITES_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "config/store.h"
#include "controllers/election.h"
#include "controllers/status_writer.h"
#include "gateway_api/status/status_board.h"
#include "kube/api_writer.h"
#include "source/etcd/etcd_store.h"

namespace fairlead::app {

// What one replica writes into etcd for all of them (option writes of the URL): the statuses of objects that
// are there. A lock with a lease of etcd's says which replica does.
class StoreWrites {
 public:
  struct Sources {
    std::function<gateway_api::Statuses()> statuses;
    std::vector<gateway_api::VerdictCondition> verdicts;  // see StatusBoard
    std::function<config::ObjectStore()> objects;         // any thread
  };
  // `store` must outlive it. `origin`: how the files of its objects begin.
  StoreWrites(const DiscoveryOptions& options, source::EtcdStore* store, std::string origin, Sources sources);
  ~StoreWrites();  // as Stop()

  // The mesh, or what proxies say of it, has changed; the first time all of it begins. Thread-safe.
  void OnPublished();
  // Gives the lock back, within two seconds. Nothing is written afterwards.
  void Stop();

 private:
  void SweepLater();
  void Sweep();

  source::EtcdStore* const store_;
  const std::function<config::ObjectStore()> objects_;
  std::atomic<bool> started_{false}, stopping_{false}, stopped_{false};
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<controllers::StatusWriter> statuses_;
  std::unique_ptr<controllers::Election> election_;
  Executor sweeping_{"status-sweep", 1};
};

// The URL with writes=true, of --configSource and of the MeshConfig; nothing where there is none.
// InvalidArgument where there are several, or an API server is read, too: one place has the statuses.
absl::StatusOr<std::optional<source::EtcdOptions>> WrittenStoreOf(const DiscoveryOptions& options);
// "etcd://10.0.0.1:2379/mesh/": how the files of its objects begin.
std::string OriginOf(const source::EtcdOptions& options);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_STORE_WRITES_H_
