#ifndef FAIRLEAD_GEN_SECURITY_AUTHORIZATION_H_
#define FAIRLEAD_GEN_SECURITY_AUTHORIZATION_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/object.h"
#include "gen/hosts/provider_service.h"
#include "model/settings.h"

namespace fairlead::gen::security {

// The AuthorizationPolicies that hold for a workload, by action, and what else their filters are made from. A
// plain value, comparable: part of the Inputs of listeners. Empty for a workload without policies.
struct Authorization {
  std::vector<config::ConfigPtr> custom, audit, deny, allow;
  bool several_authorizers = false;       // of the features: each CUSTOM policy's provider is asked
  model::MeshConfigPtr mesh;              // SettingsPart::kAuthorization; null where there are no policies
  std::vector<ProviderService> services;  // of external authorizers; none without CUSTOM policies

  bool empty() const { return mesh == nullptr; }
  friend bool operator==(const Authorization&, const Authorization&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Authorization& a) {
    return H::combine(std::move(h), a.custom, a.audit, a.deny, a.allow, a.mesh);
  }
};

// The hostname of a service that MeshConfig names "host" or "namespace/host"; "" where it is not found.
using FindHostname = std::function<Interned(std::string_view service)>;

// Inputs of the policies from mesh::SelectPolicies, in their order.
Authorization CollectAuthorization(const std::vector<config::ConfigPtr>& policies,
                                   const model::Settings& settings, const FindHostname& find);

// The mesh's trust domain and its aliases.
std::vector<std::string> TrustDomainsOf(const Authorization& authorization);

// Whether a policy is on trial (annotation istio.io/dry-run): it is evaluated and enforces nothing.
bool IsDryRun(const config::ConfigObject& policy);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_AUTHORIZATION_H_
