#include "gen/security/access.h"

#include "mesh/view/view.h"

namespace fairlead::gen::security {
namespace {

Authorization CollectPolicies(mesh::View& view) {
  const std::vector<config::ConfigPtr> policies = view.Policies(config::Kind::kAuthorizationPolicy);
  if (policies.empty()) return {};
  return CollectAuthorization(policies, *view.settings(model::SettingsPart::kAuthorization),
                              [&view](std::string_view service) { return FindProviderHost(view, service); });
}

}  // namespace

Access CollectAccess(mesh::View& view) { return {CollectPolicies(view), CollectAuthentication(view)}; }

}  // namespace fairlead::gen::security
