#ifndef FAIRLEAD_SIMULATE_ACCESS_MATCH_H_
#define FAIRLEAD_SIMULATE_ACCESS_MATCH_H_

#include <string>

#include "envoy/config/rbac/v3/rbac.pb.h"
#include "simulate/request.h"

// Envoy's role-based access control, by its API's description (envoy.config.rbac.v3). Pure. Unknown matchers
// (conditions in CEL, custom matchers) match nothing.
namespace fairlead::simulate {

bool Matches(const envoy::config::rbac::v3::Permission& permission, const SimulatedRequest& request);
bool Matches(const envoy::config::rbac::v3::Principal& principal, const SimulatedRequest& request);

// The name of the policy that the request meets: of several the first by name, as in Envoy; "" where it meets
// none.
std::string MetPolicy(const envoy::config::rbac::v3::RBAC& rules, const SimulatedRequest& request);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_ACCESS_MATCH_H_
