#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_CONFLICTS_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_CONFLICTS_H_

#include <map>
#include <string>
#include <vector>

#include "config/object.h"

namespace fairlead::gateway_api {

// By the Gateway or ListenerSet, and the listener's name: the reason ("HostnameConflict",
// "ProtocolConflict").
using ListenerConflicts = std::map<config::ObjectKey, std::map<std::string, std::string>>;

// Which listeners of a Gateway and the ListenerSets that it takes cannot be, as an earlier one is in the way:
// those of the Gateway come first, then those of the sets, oldest set first. What lost is in nobody's way.
// `udp` (Features::udp_routes): ports of UDP are apart from TCP's; else they are one, as in Istio.
ListenerConflicts FindListenerConflicts(const config::ConfigObject& gateway,
                                        std::vector<config::ConfigPtr> sets, bool udp);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_CONFLICTS_H_
