#include "gen/grpc/authorization.h"

#include <string>
#include <utility>

#include "base/strings.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/index/policy_index.h"

namespace fairlead::gen::grpc {
namespace {

namespace pb = envoy::config::rbac::v3;
using istio::security::v1beta1::AuthorizationPolicy;

const AuthorizationPolicy& SpecOf(const config::ConfigPtr& policy) {
  return policy->Spec<AuthorizationPolicy>();
}

bool OnTrial(const config::ConfigObject& policy) {
  return LabelOr(policy.meta().annotations, "istio.io/dry-run") == "true";
}

}  // namespace

ServerPolicies CollectAuthorization(mesh::View& view) {
  ServerPolicies out;
  for (const config::ConfigPtr& policy : view.Policies(config::Kind::kAuthorizationPolicy)) {
    if (OnTrial(*policy)) continue;
    const auto action = SpecOf(policy).action();
    if (action == AuthorizationPolicy::DENY) out.deny.push_back(policy);
    if (action == AuthorizationPolicy::ALLOW) out.allow.push_back(policy);
  }
  return out;
}

void BuildAccess(AccessAction action, const std::vector<config::ConfigPtr>& policies, pb::RBAC* out) {
  out->set_action(action == AccessAction::kAllow ? pb::RBAC::ALLOW : pb::RBAC::DENY);
  for (const config::ConfigPtr& policy : policies) {
    const AuthorizationPolicy& spec = SpecOf(policy);
    for (int i = 0; i < spec.rules_size(); ++i) {
      auto made = security::BuildAccessPolicy(spec.rules(i), policy->ns().str(), {.action = action});
      if (!made) continue;
      const std::string name = StrCat(policy->ns().str(), "-", policy->name().str(), "-", i);
      (*out->mutable_policies())[name] = *std::move(made);
    }
  }
}

}  // namespace fairlead::gen::grpc
