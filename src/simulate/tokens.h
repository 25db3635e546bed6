#ifndef FAIRLEAD_SIMULATE_TOKENS_H_
#define FAIRLEAD_SIMULATE_TOKENS_H_

#include <google/protobuf/any.pb.h>
#include <google/protobuf/struct.pb.h>

#include <optional>
#include <string_view>

#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::simulate {

// The claims of a JSON Web Token in the compact form (RFC 7519); nothing where it is none.
std::optional<google::protobuf::Struct> ClaimsOf(std::string_view token);

// Runs the filter that verifies tokens (envoy.extensions.filters.http.jwt_authn.v3): issuer, time, audiences,
// and what the rules require. Signatures are taken for good, and a note says so. True: the request is
// refused, the outcome says why. Verified claims become metadata and headers of the request.
bool RefusedForToken(const google::protobuf::Any& config, SimulatedRequest* request,
                     SimulationOutcome* outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_TOKENS_H_
