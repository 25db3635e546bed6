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
// What Envoy decides while it runs is left open: load balancing (all endpoints that could be chosen are
// given), weights (all shares are), retries, and filters with code or policies of their own (noted).
absl::StatusOr<Outcome> Simulate(const ProxyResources& resources, const Request& request);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_SIMULATE_H_
