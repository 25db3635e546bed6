#ifndef FAIRLEAD_APP_CLUSTER_WRITES_H_
#define FAIRLEAD_APP_CLUSTER_WRITES_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/discovery_options.h"
#include "app/workload_roots.h"
#include "config/kind.h"
#include "controllers/election.h"
#include "controllers/gateway_class_writer.h"
#include "controllers/gateway_deployer.h"
#include "controllers/root_writer.h"
#include "controllers/service_exporter.h"
#include "controllers/status_writer.h"
#include "controllers/verdict_sweep.h"
#include "fetch/client.h"
#include "gateway_api/revision.h"
#include "gateway_api/status/status_board.h"
#include "kube/access.h"
#include "kube/api_writer.h"

namespace fairlead::app {

// How this process writes into API servers, and takes part in an election by a lock of istiod's name.
kube::ApiWriter::Options WriterOptionsOf(const DiscoveryOptions& discovery);
controllers::ElectionOptions ElectionOptionsOf(const DiscoveryOptions& discovery, const char* lock);

// All that `fairlead discovery` writes into the API server which it reads, and which of several replicas
// does.
class ClusterWrites {
 public:
  struct Sources {
    std::function<gateway_api::Statuses()> statuses;
    std::vector<gateway_api::VerdictCondition> verdicts;  // see StatusBoard
    std::function<controllers::RootWriter::View()> view;
    std::function<model::SettingsPtr()> settings;  // null: nothing was published yet
    std::function<controllers::GatewayDeployer::Templates()> templates;
  };
  // The client must outlive it.
  ClusterWrites(const DiscoveryOptions& options, const kube::ServerAccess& access, fetch::Client* client,
                Sources sources);
  ~ClusterWrites();  // as Stop()

  // The mesh, or what proxies say of it, has changed; the first time all of it begins. Thread-safe.
  void OnPublished();
  // The roots that workloads are to trust, in PEM, from now on. Thread-safe.
  void SetRoots(const std::string& roots) { roots_.SetRoots(roots); }
  // Whose Gateways are deployed from now on; at first those of the revision without tags. Thread-safe.
  void SetOwnRevisions(gateway_api::OwnRevisions own);
  // `templates` of the sources are others now. Thread-safe.
  void OnTemplates();
  // One request to the API server; blocks. Thread-safe, but not for what runs on the writer's thread.
  kube::ApiAnswer Ask(kube::ApiRequest request) { return writer_->SendAndWait(std::move(request)); }
  // Gives up what it leads in, within two seconds. Nothing is written afterwards.
  void Stop();

 private:
  std::unique_ptr<controllers::Election> MakeElection(const char* lock, std::function<void()> won,
                                                      bool per_revision = false,
                                                      std::function<void()> lost = nullptr);
  void MakeSweep(const Sources& sources);
  void MakeExporter(const Sources& sources);
  void MakeGatewayWriters(const Sources& sources, const kube::ServerAccess& access, fetch::Client* client);
  controllers::GatewayPlanSettings PlanSettings(const model::Settings& settings) const;
  bool LeadsInRoots() const { return !stopping_ && roots_lock_->Leads(); }
  bool LeadsIn(config::Kind kind) const;

  const DiscoveryOptions& discovery_;
  const Environment& environment_;
  const std::string ns_, cluster_;
  mutable std::mutex mutex_;
  gateway_api::OwnRevisions own_;  // guarded by mutex_
  std::atomic<bool> started_{false}, stopping_{false}, stopped_{false};
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<controllers::StatusWriter> statuses_;
  std::unique_ptr<controllers::VerdictSweep> sweep_;
  WorkloadRoots roots_;
  std::unique_ptr<controllers::GatewayClassWriter> classes_;  // null where they are not to be made
  std::unique_ptr<controllers::GatewayDeployer> deployer_;    // null where nothing is to be deployed
  std::unique_ptr<controllers::ServiceExporter> exporter_;    // null where Services are not to be exported
  std::unique_ptr<controllers::Election> exports_;            // likewise
  std::unique_ptr<controllers::Election> gateways_, ingresses_, addresses_, others_, roots_lock_,
      deployments_;
  std::vector<controllers::Election*> elections_;  // all of them
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CLUSTER_WRITES_H_
