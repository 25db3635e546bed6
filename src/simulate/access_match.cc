#include "simulate/access_match.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/ip_address.h"
#include "base/strings.h"
#include "envoy/extensions/path/match/uri_template/v3/uri_template_match.pb.h"
#include "simulate/value_match.h"

// Metadata is matched by a deprecated field, which is the one that istiod uses.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::simulate {
namespace {

using envoy::config::core::v3::CidrRange;
using envoy::config::rbac::v3::Permission;
using envoy::config::rbac::v3::Policy;
using envoy::config::rbac::v3::Principal;
using envoy::extensions::path::match::uri_template::v3::UriTemplateMatchConfig;

bool InRange(const CidrRange& range, std::string_view address) {
  const auto prefix = IpAddress::Parse(range.address_prefix());
  const auto ip = IpAddress::Parse(address);
  if (!prefix || !ip || prefix->is_v4() != ip->is_v4()) return false;
  return IpPrefix{*prefix, static_cast<int>(range.prefix_len().value())}.Contains(*ip);
}

// The client as proxies before this one tell of it: the last address of x-forwarded-for, else the peer.
std::string RemoteAddress(const SimulatedRequest& request) {
  const std::optional<std::string> forwarded = request.Header("x-forwarded-for");
  if (!forwarded) return request.source_address;
  const std::string last(Trim(Split(*forwarded, ',').back()));
  return IpAddress::Parse(last) ? last : request.source_address;
}

// "*" is a segment, "**" what is left.
bool MatchesTemplate(const envoy::config::core::v3::TypedExtensionConfig& extension,
                     const SimulatedRequest& request) {
  constexpr std::string_view kSegment = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=]+";
  constexpr std::string_view kRest = "[a-zA-Z0-9\\-._~%!$&'()+,;:@=/]*";
  UriTemplateMatchConfig config;
  if (!extension.typed_config().UnpackTo(&config)) return false;
  std::string pattern;
  std::string_view left = config.path_template();
  while (!left.empty()) {
    const size_t star = std::min(left.find('*'), left.size());
    pattern += RE2::QuoteMeta(re2::StringPiece(left.data(), star));
    left.remove_prefix(star);
    if (left.empty()) break;
    const bool rest = left.starts_with("**");
    StrAppend(&pattern, rest ? kRest : kSegment);
    left.remove_prefix(rest ? 2 : 1);
  }
  const std::string_view path = PathOnly(request.path);
  return RE2::FullMatch(re2::StringPiece(path.data(), path.size()), pattern);
}

template <typename Rules>
bool All(const Rules& rules, const SimulatedRequest& request) {
  return std::all_of(rules.begin(), rules.end(), [&](const auto& one) { return Matches(one, request); });
}
template <typename Rules>
bool Any(const Rules& rules, const SimulatedRequest& request) {
  return std::any_of(rules.begin(), rules.end(), [&](const auto& one) { return Matches(one, request); });
}

bool MatchesIdentity(const Principal::Authenticated& wanted, const SimulatedRequest& request) {
  if (!request.tls || request.identity.empty()) return false;
  return !wanted.has_principal_name() || Matches(wanted.principal_name(), request.identity);
}

}  // namespace

bool Matches(const Permission& permission, const SimulatedRequest& request) {
  switch (permission.rule_case()) {
    case Permission::kAndRules:
      return All(permission.and_rules().rules(), request);
    case Permission::kOrRules:
      return Any(permission.or_rules().rules(), request);
    case Permission::kNotRule:
      return !Matches(permission.not_rule(), request);
    case Permission::kAny:
      return permission.any();
    case Permission::kHeader:
      return Matches(permission.header(), request);
    case Permission::kUrlPath:
      return Matches(permission.url_path().path(), PathOnly(request.path));
    case Permission::kUriTemplate:
      return MatchesTemplate(permission.uri_template(), request);
    case Permission::kDestinationIp:
      return InRange(permission.destination_ip(), request.destination_address);
    case Permission::kDestinationPort:
      return permission.destination_port() == request.destination_port;
    case Permission::kMetadata:
      return Matches(permission.metadata(), request);
    case Permission::kRequestedServerName:
      return Matches(permission.requested_server_name(), request.tls ? request.tls->server_name : "");
    default:
      return false;
  }
}

bool Matches(const Principal& principal, const SimulatedRequest& request) {
  switch (principal.identifier_case()) {
    case Principal::kAndIds:
      return All(principal.and_ids().ids(), request);
    case Principal::kOrIds:
      return Any(principal.or_ids().ids(), request);
    case Principal::kNotId:
      return !Matches(principal.not_id(), request);
    case Principal::kAny:
      return principal.any();
    case Principal::kAuthenticated:
      return MatchesIdentity(principal.authenticated(), request);
    case Principal::kDirectRemoteIp:
      return InRange(principal.direct_remote_ip(), request.source_address);
    case Principal::kSourceIp:
      return InRange(principal.source_ip(), request.source_address);
    case Principal::kRemoteIp:
      return InRange(principal.remote_ip(),
                     request.is_http() ? RemoteAddress(request) : request.source_address);
    case Principal::kHeader:
      return Matches(principal.header(), request);
    case Principal::kUrlPath:
      return Matches(principal.url_path().path(), PathOnly(request.path));
    case Principal::kMetadata:
      return Matches(principal.metadata(), request);
    default:
      return false;
  }
}

std::string MetPolicy(const envoy::config::rbac::v3::RBAC& rules, const SimulatedRequest& request) {
  const std::map<std::string, Policy> by_name(rules.policies().begin(), rules.policies().end());
  for (const auto& [name, policy] : by_name) {
    if (policy.has_condition()) continue;
    if (Any(policy.permissions(), request) && Any(policy.principals(), request)) return name;
  }
  return "";
}

}  // namespace fairlead::simulate
