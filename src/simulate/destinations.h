#ifndef FAIRLEAD_SIMULATE_DESTINATIONS_H_
#define FAIRLEAD_SIMULATE_DESTINATIONS_H_

#include <string_view>

#include "simulate/outcome.h"
#include "simulate/request.h"
#include "simulate/resources.h"

namespace fairlead::simulate {

// A cluster with the endpoints that its load balancing may choose: those of the priorities that get load, as
// Envoy spreads it by health; all of them where so few are healthy that it panics. Clusters that go to the
// original destination have that one; those that ask DNS have names. `problem` where there is no such cluster
// or nobody to choose.
Destination DestinationOf(const ProxyResources& resources, std::string_view cluster, const Request& request);

// "no cluster NAME": what a Destination's problem says where the proxy does not have the cluster.
bool IsUnknownCluster(const Destination& destination);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_DESTINATIONS_H_
