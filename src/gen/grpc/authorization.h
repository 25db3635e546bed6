#ifndef FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_
#define FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_

#include <vector>

#include "config/object.h"
#include "gen/grpc/inputs.h"
#include "gen/security/access_rule.h"
#include "mesh/view/view.h"

namespace envoy::config::rbac::v3 {
class RBAC;
}

// AuthorizationPolicies as gRPC servers enforce them (proposal A41). Source: the API description of
// istio.security.v1beta1.AuthorizationPolicy; Istio's grpcgen and authz model.
namespace fairlead::gen::grpc {

// The policies of a workload: those of the root namespace and its own namespace whose selector matches. AUDIT
// and CUSTOM are not for gRPC, and what is on trial (annotation istio.io/dry-run) is not enforced.
ServerPolicies CollectAuthorization(mesh::View& view);

using security::AccessAction;
// The rules of the policies as one filter's. An ALLOW policy without rules adds none: nothing is allowed
// then.
void BuildAccess(AccessAction action, const std::vector<config::ConfigPtr>& policies,
                 envoy::config::rbac::v3::RBAC* out);

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_AUTHORIZATION_H_
