#ifndef FAIRLEAD_SIMULATE_ACCESS_H_
#define FAIRLEAD_SIMULATE_ACCESS_H_

#include <string_view>

#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

// Istio's filters of AuthorizationPolicies and RequestAuthentications.
namespace fairlead::simulate {

// Whether a filter is one of those.
bool DecidesAccess(std::string_view filter);

// Runs them in their order. True: one refuses the request, the outcome says which policy and rule. Their
// results go to the request's metadata and headers. Policies that allow the request, and policies on trial or
// only for audit, become steps of the outcome. An external authorizer is noted, and taken to allow.
bool RefusedByAccess(
    const envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager& manager,
    SimulatedRequest* request, SimulationOutcome* outcome);
// The same for one network filter; REQUIRES: DecidesAccess(filter.name()).
bool RefusedByAccess(const envoy::config::listener::v3::Filter& filter, SimulatedRequest* request,
                     SimulationOutcome* outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_ACCESS_H_
