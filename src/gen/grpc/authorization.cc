#include "gen/grpc/authorization.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::gen::grpc {
namespace {

namespace pb = envoy::config::rbac::v3;
using istio::security::v1beta1::AuthorizationPolicy;

const AuthorizationPolicy& SpecOf(const config::ConfigPtr& policy) {
  return policy->Spec<AuthorizationPolicy>();
}

// Policies with targets are for gateways and waypoints.
bool HoldsFor(const AuthorizationPolicy& policy, const LabelMap& labels) {
  if (policy.has_targetref() || policy.targetrefs_size() > 0) return false;
  const auto& wanted = policy.selector().match_labels();
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& label) {
    const auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

bool OnTrial(const config::ConfigObject& policy) {
  return LabelOr(policy.meta().annotations, "istio.io/dry-run") == "true";
}

}  // namespace

Authorization CollectAuthorization(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  Authorization out;
  const auto collect = [&](std::string_view ns) {
    for (const config::ConfigPtr& policy : snapshot.objects->Of(config::Kind::kAuthorizationPolicy, ns)) {
      if (OnTrial(*policy) || !HoldsFor(SpecOf(policy), scope.labels)) continue;
      const auto action = SpecOf(policy).action();
      if (action == AuthorizationPolicy::DENY) out.deny.push_back(policy);
      if (action == AuthorizationPolicy::ALLOW) out.allow.push_back(policy);
    }
  };
  const std::string& root = snapshot.settings->root_namespace;
  collect(root);
  if (scope.proxy->ns != root) collect(scope.proxy->ns);
  return out;
}

void BuildAccess(AccessAction action, const std::vector<config::ConfigPtr>& policies, pb::RBAC* out) {
  out->set_action(action == AccessAction::kAllow ? pb::RBAC::ALLOW : pb::RBAC::DENY);
  for (const config::ConfigPtr& policy : policies) {
    const AuthorizationPolicy& spec = SpecOf(policy);
    for (int i = 0; i < spec.rules_size(); ++i) {
      auto made = BuildAccessPolicy(spec.rules(i), policy->ns().str(), action);
      if (!made) continue;
      const std::string name = StrCat(policy->ns().str(), "-", policy->name().str(), "-", i);
      (*out->mutable_policies())[name] = *std::move(made);
    }
  }
}

}  // namespace fairlead::gen::grpc
