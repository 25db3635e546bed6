#ifndef FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_
#define FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_

#include <optional>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "gen/grpc/inputs.h"
#include "mesh/proxy_scope.h"
#include "mesh/snapshot.h"

namespace envoy::config::rbac::v3 {
class Policy;
class RBAC;
}  // namespace envoy::config::rbac::v3
namespace istio::security::v1beta1 {
class Rule;
}

// AuthorizationPolicies as gRPC servers enforce them (proposal A41). Source: the API description of
// istio.security.v1beta1.AuthorizationPolicy; Istio's grpcgen and authz model.
namespace fairlead::gen::grpc {

// The policies that hold for a workload: of the root namespace and its own, those whose selector it meets.
// AUDIT and CUSTOM are not for gRPC, and what is on trial (annotation istio.io/dry-run) is not enforced.
Authorization CollectAuthorization(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope);

enum class AccessAction : uint8_t { kAllow, kDeny };
// The rules of the policies as one filter's. An ALLOW policy without rules adds none: nothing is allowed
// then.
void BuildAccess(AccessAction action, const std::vector<config::ConfigPtr>& policies,
                 envoy::config::rbac::v3::RBAC* out);

// One rule of a policy in `ns`. Where a value is malformed, fewer requests pass: an allowing rule is none,
// one that denies does without the value.
std::optional<envoy::config::rbac::v3::Policy> BuildAccessPolicy(const istio::security::v1beta1::Rule& rule,
                                                                 std::string_view ns, AccessAction action);

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_
