#ifndef FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_
#define FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_

#include "config/object.h"
#include "model/settings.h"
#include "registry/selectable.h"

namespace fairlead::registry {

// Whether a WorkloadEntry may be sent traffic: unless its proxy reports health (annotation
// proxy.istio.io/health-checks-enabled), it may; else only while its status says Healthy.
bool IsHealthy(const config::ConfigObject& workload_entry);

// A WorkloadEntry as selectors find it; its labels are those of spec and metadata, the latter winning.
SelectableWorkload FromWorkloadEntry(const config::ConfigObject& workload_entry,
                                     const model::Settings& settings);

// The endpoint spec.endpoints[index] of a ServiceEntry.
SelectableWorkload FromInlineEndpoint(const config::ConfigObject& service_entry, int index,
                                      const model::Settings& settings);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICEENTRY_WORKLOAD_ENTRY_H_
