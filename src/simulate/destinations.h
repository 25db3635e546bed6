#ifndef FAIRLEAD_SIMULATE_DESTINATIONS_H_
#define FAIRLEAD_SIMULATE_DESTINATIONS_H_

#include <string_view>

#include "simulate/outcome.h"
#include "simulate/request.h"
#include "simulate/resources.h"

namespace fairlead::simulate {

// A cluster with the possible endpoints of its load balancing: those of the priorities with load, as Envoy
// spreads it by health. All of them if so few are healthy that Envoy panics. A cluster to the original
// destination has that one; a DNS cluster has names. `problem` where there is no such cluster or nobody to
// choose.
Destination DestinationOf(const ProxyResources& resources, std::string_view cluster,
                          const SimulatedRequest& request);

// "no cluster NAME": what a Destination's problem says where the proxy does not have the cluster.
bool IsUnknownCluster(const Destination& destination);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_DESTINATIONS_H_
