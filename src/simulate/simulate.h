#ifndef FAIRLEAD_SIMULATE_SIMULATE_H_
#define FAIRLEAD_SIMULATE_SIMULATE_H_

#include "absl/status/statusor.h"
#include "simulate/outcome.h"
#include "simulate/request.h"
#include "simulate/resources.h"

namespace fairlead::simulate {

// Sends a request through a proxy's listeners, routes and clusters as Envoy would match it, and says where it
// ends. A pure function, thread-safe. InvalidArgument where an address of the request is no IP address.
//
// Decisions of a running Envoy stay open: load balancing (the result has all possible endpoints), weights
// (all shares) and retries. Filters with code or their own policies are noted.
absl::StatusOr<SimulationOutcome> Simulate(const ProxyResources& resources, const SimulatedRequest& request);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_SIMULATE_H_
