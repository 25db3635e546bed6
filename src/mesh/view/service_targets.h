#ifndef FAIRLEAD_MESH_VIEW_SERVICE_TARGETS_H_
#define FAIRLEAD_MESH_VIEW_SERVICE_TARGETS_H_

#include <string_view>
#include <vector>

#include "base/labels.h"
#include "mesh/index/service_target.h"
#include "mesh/view/view.h"

namespace fairlead::mesh {

// A proxy whose metadata has this label is a pod that plays a virtual machine: its pod does not count.
inline constexpr std::string_view kTestVmLabel = "istio.io/test-vm";

// The services that a proxy's workload serves, in Istio's order: by age and hostname, ports in the service's
// order, one entry for each port and protocol of the workload. Kubernetes services are found by the workload
// entry with its address, else by its pod, else by what its metadata says, in its own cluster alone, or in
// each where it names none; ServiceEntries by the addresses of their endpoints. Source: Istio's
// GetProxyServiceTargets. A pod that was made for a proxy without one counts beside such an entry.
std::vector<ServiceTarget> FindServiceTargets(View& view, const model::Proxy& proxy, const LabelMap& labels);

// What ServiceEntries have at the proxy's addresses, in its metadata's namespace (in all, where that is
// empty).
std::vector<model::ExternalTarget> FindExternalTargets(View& view, const model::Proxy& proxy);

// The pod of a proxy's cluster that its id names, if it is in the namespace that its metadata says; null if
// there is none. Of a proxy that names no cluster the first one, the own cluster's before those of others.
const model::WorkloadInstance* FindPodOf(View& view, const model::Proxy& proxy);

// The cluster that a proxy names, as objects name it (see config::ObjectMeta): "" for the control plane's
// own, also of a proxy that names none.
Interned ClusterOf(View& view, const model::Proxy& proxy);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_SERVICE_TARGETS_H_
