#include "jwks/wanted.h"

#include <algorithm>
#include <chrono>

#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/policy_index.h"

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

}  // namespace

Wanted WantedKeySets(const mesh::PolicyIndex& policies) {
  Wanted wanted;
  for (const auto& [ns, part] : policies.All(config::Kind::kRequestAuthentication)) {
    for (const mesh::Policy& policy : part->policies) {
      for (const JWTRule& rule : policy.object->Spec<RequestAuthentication>().jwt_rules()) {
        if (!rule.jwks().empty()) continue;
        Clock::duration& timeout = wanted[model::KeySourceOf(rule.jwks_uri(), rule.issuer())];
        timeout = std::max(timeout, TimeoutOf(rule));
      }
    }
  }
  return wanted;
}

}  // namespace fairlead::jwks
