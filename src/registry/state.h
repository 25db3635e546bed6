#ifndef FAIRLEAD_REGISTRY_STATE_H_
#define FAIRLEAD_REGISTRY_STATE_H_

#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/store.h"
#include "model/registry_output.h"
#include "registry/kubernetes/pods.h"
#include "registry/kubernetes/registry.h"
#include "registry/mesh_facts.h"
#include "registry/registry.h"
#include "registry/selectable.h"
#include "registry/service_table.h"
#include "registry/serviceentry/registry.h"

namespace fairlead::registry {

// What Registries keeps. A value: a copy costs little and shares what it has in common with the original. An
// Apply first notes which objects to look at (all of them where the mesh's facts
// changed), then takes workloads, services and entries, each step noting what follows from it, and at last
// builds the endpoints of the services that any of it touched. Everything that comes out equal to what was
// there keeps its pointer.
struct Registries::State {
 public:
  void Apply(const config::ObjectStore& store, std::span<const config::ObjectChange> changes,
             const model::SettingsPtr& settings);

  model::RegistryOutput output;

 private:
  struct WorkloadEntryRecord {
    config::ConfigPtr object;
    SelectablePtr selectable;      // null while the entry is not healthy
    WorkloadInstancePtr instance;  // likewise
  };
  // Names of the objects that an Apply has to look at.
  struct ToVisit {
    absl::flat_hash_set<Name> pods, workload_entries, services, slices, service_entries;
    bool gateways = false;
  };

  void VisitEverything(const config::ObjectStore& store);
  void Visit(const config::ObjectChange& change);
  // Null where there is no such object, or where the discovery selectors leave its namespace out.
  config::ConfigPtr Find(const config::ObjectStore& store, config::Kind kind, const Name& name) const;

  void UpdatePods(const config::ObjectStore& store);
  void UpdateWorkloadEntries(const config::ObjectStore& store);
  void UpdateServices(const config::ObjectStore& store);
  void UpdateServiceEntries(const config::ObjectStore& store);
  void NoteServiceChanges();
  void UpdateEndpoints();
  void UpdateGateways(const config::ObjectStore& store);
  void UpdateDiagnostics();

  void OnSelectableChange(const Interned& ns, const SelectablePtr& before, const SelectablePtr& after);
  void SetInstance(const WorkloadInstancePtr& before, const WorkloadInstancePtr& after);
  void BuildEndpoints(const model::ServiceKey& key, const Name& kubernetes_name);
  void SetTargets(const model::ServiceKey& key,
                  std::vector<std::pair<Interned, model::ExternalTarget>> targets);
  void SetTargetsAt(const Interned& address, const model::ServiceKey& key, model::ExternalTargets targets);
  void Report(const config::ObjectKey& object, std::vector<config::Diagnostic> diagnostics);
  void ReportHostConflict(const model::ServiceKey& key, const Name& kubernetes_name);

  MeshFacts facts;
  PodIndex pods;
  ShardedMap<Name, WorkloadEntryRecord> workload_entries;
  SelectableIndex selectable;
  KubernetesRegistry kubernetes;
  ServiceEntryRegistry entries;
  ServiceTable services;
  ShardedMap<model::ServiceKey, std::vector<Interned>> target_addresses;  // where a service has targets
  SortedMap<config::ObjectKey, std::vector<config::Diagnostic>> diagnostics;
  SortedMap<model::ServiceKey, config::Diagnostic> host_conflicts;

  // Of the Apply that runs.
  ToVisit visit;
  KubernetesRegistry::Dirty dirty_services;
  ServiceEntryRegistry::Dirty dirty_hosts;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_STATE_H_
