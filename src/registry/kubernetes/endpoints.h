#ifndef FAIRLEAD_REGISTRY_KUBERNETES_ENDPOINTS_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_ENDPOINTS_H_

#include <map>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "config/kubernetes_types.h"
#include "config/object.h"
#include "model/endpoint.h"
#include "model/service.h"
#include "registry/kubernetes/pods.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"

namespace fairlead::registry {

// The service that an EndpointSlice belongs to; its name is empty where it is none of a cluster's own
// services.
Name ServiceOfSlice(const config::ConfigObject& slice);

// How an endpoint of a slice finds its pod: by name where targetRef says so, else by address among ready pods
// of the slice's namespace. In both cases the namespace is first.
struct PodLookup {
  bool by_name = false;
  Name key;  // (namespace, pod name or address)
};
// Of every address of the slice.
std::vector<PodLookup> PodLookupsOf(const config::ConfigObject& slice);

// Workloads of addresses without a pod: one for each network, so that endpoints share them.
class PodlessWorkloads {
 public:
  const model::WorkloadPtr& For(const Interned& address, const MeshFacts& facts);

 private:
  absl::flat_hash_map<Interned, model::WorkloadPtr> by_network_;
};

// Slices of one service by name: what several say about one address and port, the first says.
using SlicesByName = std::map<Interned, config::ConfigPtr>;

// Whether a slice is one of those that `slices` are read by: the mirror of Endpoints is not, beside others.
bool Counts(const config::EndpointSliceSpec& slice, const SlicesByName& slices);

// The endpoints of a service's slices. `service` is null where there is only slices. An endpoint whose
// targetRef names a pod that is not there is left out: it comes when the pod does.
std::vector<model::Endpoint> BuildSliceEndpoints(const SlicesByName& slices, const model::Service* service,
                                                 const PodIndex& pods, PodlessWorkloads& podless,
                                                 const MeshFacts& facts);

// The WorkloadEntries of a cluster (see config::ObjectMeta) that a service with a selector and a cluster IP
// picks, port by port, added to `endpoints`.
void AppendSelectedEntries(const model::Service& service, const Interned& cluster,
                           const SelectableIndex& workloads, std::vector<model::Endpoint>* endpoints);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_ENDPOINTS_H_
