#include "jwks/wanted.h"

#include <algorithm>
#include <chrono>

#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/index/policy_index.h"
#include "mesh/index/service_index.h"
#include "model/key_sets.h"

namespace fairlead::jwks {
namespace {

using istio::security::v1beta1::JWTRule;
using istio::security::v1beta1::RequestAuthentication;

constexpr Clock::duration kDefaultTimeout = std::chrono::seconds(5);
constexpr Clock::duration kLongestTimeout = std::chrono::seconds(30);

Clock::duration TimeoutOf(const JWTRule& rule) {
  if (!rule.has_timeout()) return kDefaultTimeout;
  if (rule.timeout().seconds() >= 30) return kLongestTimeout;
  const auto timeout =
      std::chrono::seconds(rule.timeout().seconds()) + std::chrono::nanoseconds(rule.timeout().nanos());
  return std::max<Clock::duration>(timeout, std::chrono::milliseconds(1));
}

// A service that several namespaces have is nobody's, as where proxies are told.
bool IsService(const std::string& host, const mesh::ServiceIndex& services) {
  const auto& found = services.ByHost(host);
  return !found.empty() && found.front()->ns.str() == found.back()->ns.str();
}

bool IsFetchedHere(const JWTRule& rule, const mesh::MeshSnapshot& snapshot) {
  using model::KeyFetch;
  const KeyFetch fetch = snapshot.settings->features.key_fetch;
  if (fetch == KeyFetch::kHere || rule.jwks_uri().empty()) return rule.jwks().empty();
  if (fetch == KeyFetch::kProxies) return false;
  const auto server = model::KeyServerOf(rule.jwks_uri());
  return !server || !IsService(server->host, *snapshot.services);
}

}  // namespace

Wanted WantedKeySets(const mesh::MeshSnapshot& snapshot) {
  Wanted wanted;
  for (const auto& [ns, part] : snapshot.policies->All(config::Kind::kRequestAuthentication)) {
    for (const mesh::Policy& policy : part->policies) {
      for (const JWTRule& rule : policy.object->Spec<RequestAuthentication>().jwt_rules()) {
        if (!IsFetchedHere(rule, snapshot)) continue;
        Clock::duration& timeout = wanted[model::KeySourceOf(rule.jwks_uri(), rule.issuer())];
        timeout = std::max(timeout, TimeoutOf(rule));
      }
    }
  }
  return wanted;
}

}  // namespace fairlead::jwks
