#ifndef FAIRLEAD_GEN_SECURITY_ACCESS_VALUES_H_
#define FAIRLEAD_GEN_SECURITY_ACCESS_VALUES_H_

#include <span>
#include <string>
#include <string_view>

#include "gen/security/trust_domains.h"

namespace envoy::config::core::v3 {
class CidrRange;
}
namespace envoy::config::rbac::v3 {
class Permission;
class Principal;
}  // namespace envoy::config::rbac::v3

// The attributes of a request in an AuthorizationPolicy's rules: one part of access_rule.cc's table.
namespace fairlead::gen::security {

// Where a condition stands and what it is about.
struct AccessCondition {
  std::string_view ns;                // of the policy
  std::string_view argument;          // "[x-user]" of "request.headers[x-user]"
  bool peer_in_filter_state = false;  // see AccessForm
};

// An attribute of requests. Exactly one of the functions is set: of one value, or of all that are listed
// together. They return false, and leave `out` in any state, where a value is malformed.
template <typename Rule>
struct AccessAttribute {
  std::string_view key;  // of a condition; of "when" the part before a bracket
  bool (*of_value)(const AccessCondition& condition, const std::string& value, Rule* out) = nullptr;
  bool (*of_values)(const AccessCondition& condition, const Values& values, Rule* out) = nullptr;
  bool http_only = false;  // connections do not have it
  // The values in a mesh with these trust domains; null: unchanged.
  Values (*with_aliases)(const Values& values, TrustDomains trust_domains) = nullptr;
};
using Permission = envoy::config::rbac::v3::Permission;
using Principal = envoy::config::rbac::v3::Principal;

// The attributes of a rule's `to`, in order, and those of `from`.
extern const AccessAttribute<Permission> kHost, kMethod, kPath, kPort;
extern const AccessAttribute<Principal> kPrincipal, kRequestPrincipal, kServiceAccount, kTrustDomain,
    kNamespace, kRemoteIp, kSourceIp;

// The attributes of `when` alone.
std::span<const AccessAttribute<Permission>> MorePermissions();
std::span<const AccessAttribute<Principal>> MorePrincipals();

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_ACCESS_VALUES_H_
