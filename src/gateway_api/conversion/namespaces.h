#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_NAMESPACES_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_NAMESPACES_H_

#include <string>
#include <string_view>
#include <vector>

#include "config/tree.h"
#include "gateway_api/lookups.h"

namespace fairlead::gateway_api {

// The hosts of a listener as an Istio Gateway's server has them: "namespace/host" for each namespace whose
// routes it takes (spec.listeners[].allowedRoutes.namespaces), "~/host" where it takes none.
std::vector<std::string> ListenerHosts(config::Node listener, std::string_view own_ns, Lookups& lookups);

// Whether a Gateway takes ListenerSets of a namespace (spec.allowedListeners).
bool TakesListenerSets(config::Node gateway, std::string_view gateway_ns, std::string_view set_ns,
                       Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_NAMESPACES_H_
