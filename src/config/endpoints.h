#ifndef FAIRLEAD_CONFIG_ENDPOINTS_H_
#define FAIRLEAD_CONFIG_ENDPOINTS_H_

#include <string>
#include <string_view>

#include "config/kind.h"
#include "config/object.h"

// v1 Endpoints, what services had before EndpointSlices. A cluster's control plane mirrors those that
// somebody wrote by hand into EndpointSlices. A folder of manifests has nobody who would: an Endpoints object
// is read as the slice that mirrors it, which counts where its service has no other. Source: Kubernetes
// documentation, "EndpointSlices", mirroring; core/v1 Endpoints.
namespace fairlead::config {

// The row of Endpoints, beside the table of kinds: their `kind` is Kind::kEndpointSlice.
const KindInfo& EndpointsInfo();
inline bool IsEndpoints(const KindInfo& info) { return &info == &EndpointsInfo(); }

// The name of the slice that mirrors the Endpoints of the service `name`. Kubernetes lets no object have it.
std::string MirrorName(std::string_view name);

// Makes the slice that mirrors Endpoints its service's.
void LabelMirror(ObjectMeta& meta);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_ENDPOINTS_H_
