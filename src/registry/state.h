#ifndef FAIRLEAD_REGISTRY_STATE_H_
#define FAIRLEAD_REGISTRY_STATE_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/store.h"
#include "model/registry_output.h"
#include "registry/kubernetes/cluster_set.h"
#include "registry/kubernetes/pods.h"
#include "registry/kubernetes/registry.h"
#include "registry/mesh_facts.h"
#include "registry/registry.h"
#include "registry/selectable.h"
#include "registry/service_table.h"
#include "registry/serviceentry/registry.h"

namespace fairlead::registry {

// What Registries keeps. A value: a copy costs little and shares what it has in common with the original. An
// Apply first notes which objects to look at (all of a cluster where the facts about it changed), then takes
// workloads, services and entries, each step noting what follows from it, and at last builds the endpoints of
// the services that any of it touched, of all clusters. Everything that comes out equal to what was there
// keeps its pointer.
struct Registries::State {
  void Apply(const config::ObjectStore& store, std::span<const config::ObjectChange> changes,
             const model::SettingsPtr& settings);

  model::RegistryOutput output;

  // The rest is for an Apply.
  struct WorkloadEntryRecord {
    config::ConfigPtr object;
    SelectablePtr selectable;      // null while the entry is not healthy
    WorkloadInstancePtr instance;  // likewise
  };
  // One Kubernetes cluster.
  struct Cluster {
    MeshFacts facts;
    PodIndex pods;
    ShardedMap<Name, WorkloadEntryRecord> workload_entries;
    KubernetesRegistry kubernetes;
    ClusterSet cluster_set;
    // Names of the objects that the Apply that runs has to look at.
    absl::flat_hash_set<Name> visit_pods, visit_services, visit_slices, visit_entries, visit_exports,
        visit_imports;
    KubernetesRegistry::Dirty dirty_services;

    // Null where there is no such object, or where the discovery selectors leave its namespace out.
    config::ConfigPtr Find(const config::ObjectStore& store, config::Kind kind, const Name& name) const;
  };
  // The same of what the control plane's own cluster alone has.
  struct ToVisit {
    absl::flat_hash_set<Name> service_entries;
    bool gateways = false;
  };

  Cluster& Own() { return clusters[Interned()]; }
  void UpdateFacts(const config::ObjectStore& store, std::span<const config::ObjectChange> changes,
                   const model::SettingsPtr& settings);
  void VisitEverything(const config::ObjectStore& store, Cluster& cluster);
  void VisitOwn(const config::ObjectStore& store);
  void Visit(const config::ObjectChange& change);

  void UpdatePods(const config::ObjectStore& store, Cluster& cluster);
  void UpdateWorkloadEntries(const config::ObjectStore& store, Cluster& cluster);
  void UpdateServices(const config::ObjectStore& store, Cluster& cluster);
  void UpdateExports(const config::ObjectStore& store, Cluster& cluster);
  void OnServiceChange(const Name& name);
  void UpdateImports(const config::ObjectStore& store, Cluster& cluster);
  void UpdateServiceEntries(const config::ObjectStore& store);
  void NoteServiceChanges();
  void UpdateEndpoints();
  void UpdateGateways(const config::ObjectStore& store);
  std::vector<std::string> ProblemsOfSettings() const;
  void UpdateDiagnostics();

  void DropEmptyClusters();
  void OnPodChange(Cluster& cluster, const Interned& ns, const SelectablePtr& before,
                   const SelectablePtr& after);
  void OnEntryChange(Cluster& cluster, const Interned& ns, const SelectablePtr& before,
                     const SelectablePtr& after);
  void SetInstance(const WorkloadInstancePtr& before, const WorkloadInstancePtr& after);
  bool IsImported(const Name& name) const;
  void AddKubernetesShards(const Name& name, bool of_cluster_set, std::vector<model::EndpointShard>* shards);
  void BuildEndpoints(const model::ServiceKey& key, const Name& kubernetes_name);
  void SetTargets(const model::ServiceKey& key,
                  std::vector<std::pair<Interned, model::ExternalTarget>> targets);
  void SetTargetsAt(const Interned& address, const model::ServiceKey& key, model::ExternalTargets targets);
  void Report(const config::ObjectKey& object, std::vector<config::Diagnostic> diagnostics);
  void ReportHostConflict(const model::ServiceKey& key, const Name& kubernetes_name);

  // By the clusters of their objects' keys: "", the control plane's own, is always there and the first.
  std::map<Interned, Cluster> clusters;
  SelectableIndex selectable;
  ServiceEntryRegistry entries;
  ServiceTable services;
  ShardedMap<model::ServiceKey, std::vector<Interned>> target_addresses;  // where a service has targets
  SortedMap<config::ObjectKey, std::vector<config::Diagnostic>> diagnostics;
  SortedMap<model::ServiceKey, config::Diagnostic> host_conflicts;

  // Of the Apply that runs.
  ToVisit visit;
  ServiceEntryRegistry::Dirty dirty_hosts;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_STATE_H_
