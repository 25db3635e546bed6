#ifndef FAIRLEAD_REGISTRY_KUBERNETES_REGISTRY_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_REGISTRY_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/store.h"
#include "model/registry_output.h"
#include "registry/kubernetes/endpoints.h"
#include "registry/kubernetes/pods.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"
#include "registry/service_table.h"

namespace fairlead::registry {

// Services of one cluster and their EndpointSlices. Tells by service which endpoints must be built anew when
// a slice, a pod or a WorkloadEntry changes. Part of the registries' state: used by the control loop alone.
class KubernetesRegistry {
 public:
  using Dirty = absl::flat_hash_set<Name>;  // services (namespace, name) whose endpoints may have changed

  // The Service as it now is (null: gone).
  void SetService(const Name& name, const config::ConfigPtr& object, const LabelMap* namespace_annotations,
                  const MeshFacts& facts, ServiceTable* services, Dirty* dirty);
  void SetSlice(const Name& name, const config::ConfigPtr& object, Dirty* dirty);
  // A pod, or an address that a ready pod has, came, went or changed.
  void MarkUsersOfPod(const Name& pod, Dirty* dirty) const;
  void MarkUsersOfAddress(const Interned& ns, const Interned& address, Dirty* dirty) const;
  // A WorkloadEntry with these labels came, went or changed.
  void MarkSelecting(const Interned& ns, const LabelMap& labels, Dirty* dirty) const;

  // What (hostname, namespace) a service has, whether or not there is a Service object.
  static model::ServiceKey KeyOf(const Name& name, const MeshFacts& facts);
  // As this cluster has it; null where there is no Service object.
  model::ServicePtr FindService(const Name& name) const;
  // The endpoints of `service`, which is the one of the name or stands for it; null where this cluster has
  // none. `workloads` have the WorkloadEntries that it may select. `own_cluster_only`: what its slices say is
  // for proxies of this cluster alone.
  model::EndpointShard BuildShard(const Name& name, const model::Service* service, bool own_cluster_only,
                                  const PodIndex& pods, const SelectableIndex& workloads,
                                  const MeshFacts& facts);

  std::vector<Name> ServicesIn(const Interned& ns) const;
  std::vector<Name> AllServices() const;
  std::vector<Name> AllSlices() const;
  bool empty() const { return services_.empty() && slices_.empty(); }
  // Endpoints of the slices that have no use: of type FQDN, or of a pod that is not there.
  std::vector<config::Diagnostic> SliceProblems(const Name& name, const PodIndex& pods) const;

  // Gateways to other networks that are services of this cluster.
  void AppendNetworkGateways(const config::ObjectStore& store, const MeshFacts& facts,
                             std::vector<model::NetworkGateway>* gateways) const;

 private:
  struct Record {
    model::ServicePtr service;  // null without a Service object
    SlicesByName slices;
  };
  struct Slice {
    config::ConfigPtr object;
    Name service;
  };
  using Users = ShardedMap<Name, std::vector<Name>>;

  void Link(const Slice& slice);
  void Unlink(const Slice& slice);
  void DropIfEmpty(const Name& name);

  ShardedMap<Name, Record> services_;
  SortedMap<Name, model::ServicePtr> with_object_;  // the records that have a Service object
  ShardedMap<Name, Slice> slices_;
  Users users_of_pod_;      // by (namespace, pod); a service is listed once for each use
  Users users_of_address_;  // by (namespace, address)
  PodlessWorkloads podless_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_REGISTRY_H_
