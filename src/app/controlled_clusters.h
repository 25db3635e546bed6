#ifndef FAIRLEAD_APP_CONTROLLED_CLUSTERS_H_
#define FAIRLEAD_APP_CONTROLLED_CLUSTERS_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "app/controlled_cluster.h"
#include "base/after_quiet.h"
#include "source/cluster/remote_clusters.h"

namespace fairlead::app {

// The other clusters of the mesh whose control plane this one is (EXTERNAL_ISTIOD): those whose namespace of
// the control plane says so, by the annotation topology.istio.io/controlPlaneClusters with the own cluster's
// ID among its names, or "*". A cluster comes and goes with its annotation and its kubeconfig. A thread of
// its own follows them. Thread-safe.
class ControlledClusters {
 public:
  struct Sources {
    std::function<config::ObjectStore()> objects;  // of the mesh
    std::function<model::MeshConfigPtr()> mesh;    // null: nothing was published yet
    // How another cluster is reached; nothing where there is none.
    std::function<std::optional<source::RemoteClusters::Access>(const std::string& cluster)> find;
  };
  // `options` and client must outlive it.
  ControlledClusters(const DiscoveryOptions& options, fetch::Client* client, Sources sources);
  ~ControlledClusters();  // as Stop()
  void OnPublished();
  // In PEM, from now on.
  void SetRoots(const std::string& roots);
  void SetWebhookRoots(const std::string& roots);
  // Gives up all locks.
  void Stop();

 private:
  struct Controlled {
    std::string kubeconfig;
    std::unique_ptr<ControlledCluster> writes;
  };
  void Look();
  std::set<std::string> Wanted(const config::ObjectStore& objects) const;

  const DiscoveryOptions& options_;
  fetch::Client* const client_;
  const Sources sources_;
  std::mutex mutex_;
  std::string roots_, webhook_roots_;           // guarded by mutex_; "": not known
  std::map<std::string, Controlled> clusters_;  // of the thread
  AfterQuiet looking_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CONTROLLED_CLUSTERS_H_
