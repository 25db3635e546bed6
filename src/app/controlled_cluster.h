#ifndef FAIRLEAD_APP_CONTROLLED_CLUSTER_H_
#define FAIRLEAD_APP_CONTROLLED_CLUSTER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/discovery_options.h"
#include "app/workload_roots.h"
#include "config/store.h"
#include "controllers/election.h"
#include "controllers/webhook_patcher.h"
#include "controllers/webhook_watch.h"
#include "fetch/client.h"
#include "kube/access.h"
#include "kube/api_writer.h"
#include "model/mesh_config.h"
#include "source/cluster/cluster_source.h"

namespace fairlead::app {

// What an external control plane writes into another cluster that it controls: the root certificates of its
// namespaces, as long as this replica leads there, and the caBundle of its webhooks.
// Source: istiod's initializeCluster, pilot/pkg/serviceregistry/kube/controller/multicluster.go.
class ControlledCluster {
 public:
  // `mesh` is called on any thread and may give null: nothing was published yet. The client must outlive it.
  ControlledCluster(const DiscoveryOptions& options, std::string cluster, const kube::ServerAccess& access,
                    fetch::Client* client, std::function<model::MeshConfigPtr()> mesh);
  ~ControlledCluster();  // gives up its lock, within two seconds

  // In PEM, from now on. Thread-safe.
  void SetRoots(const std::string& roots) { roots_.SetRoots(roots); }
  void SetWebhookRoots(const std::string& roots);
  // Settings may have changed. Thread-safe.
  void OnPublished();

 private:
  // The namespaces and ConfigMaps of the cluster, as if it was the own one.
  class Objects : public source::Sink {
   public:
    explicit Objects(std::function<void()> changed) : changed_(std::move(changed)) {}
    void OnChanges(std::vector<config::ObjectChange> changes) override;
    void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override;
    void OnDiagnostics(std::vector<config::Diagnostic> /*diagnostics*/) override {}
    void Synced(config::Kind /*kind*/) override {}
    void OnSynced() override;
    // Nothing before it has synced.
    std::optional<config::ObjectStore> All() const;

   private:
    const std::function<void()> changed_;
    mutable std::mutex mutex_;
    config::ObjectStore store_;  // guarded by mutex_, as synced_
    bool synced_ = false;
  };
  controllers::RootWriter::View ViewOf(const std::function<model::MeshConfigPtr()>& mesh) const;
  void MakePatcher(const DiscoveryOptions& options, const kube::ServerAccess& access, fetch::Client* client);

  Objects objects_;
  std::atomic<bool> stopping_{false};
  kube::ApiWriter writer_;
  WorkloadRoots roots_;
  std::unique_ptr<controllers::WebhookPatcher> patcher_;
  std::unique_ptr<controllers::WebhookWatch> watch_;
  bool watching_ = false;  // of the thread of SetWebhookRoots
  std::unique_ptr<controllers::Election> election_;
  std::unique_ptr<source::ClusterSource> source_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CONTROLLED_CLUSTER_H_
