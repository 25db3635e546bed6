#ifndef FAIRLEAD_GEN_SECURITY_ACCESS_RULE_H_
#define FAIRLEAD_GEN_SECURITY_ACCESS_RULE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace envoy::config::rbac::v3 {
class Policy;
}
namespace istio::security::v1beta1 {
class Rule;
}

namespace fairlead::gen::security {

enum class AccessAction : uint8_t { kAllow, kDeny, kAudit };

// In which form a rule is wanted.
struct AccessForm {
  AccessAction action = AccessAction::kAllow;
  bool tcp = false;                   // what only HTTP requests have counts as malformed
  bool peer_in_filter_state = false;  // the client's identity, as behind a waypoint's tunnel
  // The mesh's own trust domain, then its aliases: identities in one of them are meant in all. Empty:
  // identities are as they are written.
  std::span<const std::string> trust_domains = {};
};

// One rule of an AuthorizationPolicy in `ns` as an RBAC policy. Where a value is malformed, fewer requests
// pass: an allowing rule is none, one that denies or logs does without the value. Pure. Source: the API
// description of istio.security.v1beta1.AuthorizationPolicy; Istio's authz model.
std::optional<envoy::config::rbac::v3::Policy> BuildAccessPolicy(const istio::security::v1beta1::Rule& rule,
                                                                 std::string_view ns, const AccessForm& form);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_ACCESS_RULE_H_
