#ifndef FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_
#define FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_

#include "config/object.h"
#include "model/settings.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"

namespace fairlead::registry {

// Whether a WorkloadEntry may be sent traffic: unless its proxy reports health (annotation
// proxy.istio.io/health-checks-enabled), it may; else only while its status says Healthy.
bool IsHealthy(const config::ConfigObject& workload_entry);

// A WorkloadEntry of a cluster as selectors find it; its labels are those of spec and metadata, the latter
// winning. One of another cluster without a network has the one that its address has there. Source: Istio's
// NewWorkloadEntryController, WithNetworkIDCb.
SelectableWorkload FromWorkloadEntry(const config::ConfigObject& workload_entry, const MeshFacts& facts);

// The endpoint spec.endpoints[index] of a ServiceEntry.
SelectableWorkload FromInlineEndpoint(const config::ConfigObject& service_entry, int index,
                                      const model::Settings& settings);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_
