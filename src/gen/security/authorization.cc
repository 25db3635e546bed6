#include "gen/security/authorization.h"

#include <algorithm>
#include <set>

#include "base/go_bool.h"
#include "base/labels.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::gen::security {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::security::v1beta1::AuthorizationPolicy;

std::set<std::string> ServicesOfAuthorizers(const MeshConfig& mesh) {
  std::set<std::string> services;
  for (const auto& provider : mesh.extension_providers()) {
    if (provider.has_envoy_ext_authz_http()) services.insert(provider.envoy_ext_authz_http().service());
    if (provider.has_envoy_ext_authz_grpc()) services.insert(provider.envoy_ext_authz_grpc().service());
  }
  services.erase("");
  return services;
}

std::vector<config::ConfigPtr>* ListOf(const config::ConfigObject& policy, Authorization* out) {
  switch (policy.Spec<AuthorizationPolicy>().action()) {
    case AuthorizationPolicy::ALLOW:
      return &out->allow;
    case AuthorizationPolicy::DENY:
      return &out->deny;
    case AuthorizationPolicy::AUDIT:
      return &out->audit;
    case AuthorizationPolicy::CUSTOM:
      return &out->custom;
    default:
      return nullptr;
  }
}

}  // namespace

Authorization CollectAuthorization(const std::vector<config::ConfigPtr>& policies,
                                   const model::Settings& settings, const FindHostname& find) {
  Authorization out;
  for (const config::ConfigPtr& policy : policies) {
    if (auto* list = ListOf(*policy, &out)) list->push_back(policy);
  }
  if (policies.empty()) return out;
  out.mesh = settings.Part(model::SettingsPart::kAuthorization);
  if (out.custom.empty()) return out;
  out.several_authorizers = settings.features.several_authorizers;
  for (const std::string& service : ServicesOfAuthorizers(*out.mesh)) {
    out.services.push_back({Interned(service), find(service)});
  }
  return out;
}

std::vector<std::string> TrustDomainsOf(const Authorization& authorization) {
  const MeshConfig& mesh = *authorization.mesh;
  std::vector<std::string> domains = {mesh.trust_domain()};
  domains.insert(domains.end(), mesh.trust_domain_aliases().begin(), mesh.trust_domain_aliases().end());
  return domains;
}

bool IsDryRun(const config::ConfigObject& policy) {
  return ParseGoBool(LabelOr(policy.meta().annotations, "istio.io/dry-run")).value_or(false);
}

}  // namespace fairlead::gen::security
