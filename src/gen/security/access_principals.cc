#include <utility>

#include "base/strings.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "gen/route/string_match.h"
#include "gen/security/access_matchers.h"
#include "gen/security/access_values.h"

// Metadata is matched by a deprecated field, which is the one that gRPC and istiod use.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen::security {
namespace {

using envoy::type::matcher::v3::StringMatcher;
using route::QuoteRegex;

constexpr std::string_view kSpiffe = "spiffe://";
constexpr char kAnyText[] = ".+";

StringMatcher* IdentityOf(const AccessCondition& condition, Principal* out) {
  if (!condition.peer_in_filter_state) return out->mutable_authenticated()->mutable_principal_name();
  out->mutable_filter_state()->set_key("io.istio.peer_principal");
  return out->mutable_filter_state()->mutable_string_match();
}

void SetRegex(std::string regex, StringMatcher* out) {
  out->mutable_safe_regex()->set_regex(std::move(regex));
}

bool OfPrincipal(const AccessCondition& condition, const std::string& value, Principal* out) {
  SetText(value, kSpiffe, IdentityOf(condition, out));
  return true;
}

bool OfNamespace(const AccessCondition& condition, const std::string& value, Principal* out) {
  std::string regex = ".*/ns/";
  bool first = true;
  for (const std::string_view literal : Split(value, '*')) {
    if (!std::exchange(first, false)) regex += ".*";
    regex += QuoteRegex(literal);
  }
  SetRegex(regex + "/.*", IdentityOf(condition, out));
  return true;
}

// "account" of the policy's own namespace, or "namespace/account"; an identity may hold more between its
// parts.
bool OfServiceAccount(const AccessCondition& condition, const std::string& value, Principal* out) {
  const size_t slash = value.find('/');
  const bool full = slash != std::string::npos;
  const std::string_view ns = full ? std::string_view(value).substr(0, slash) : condition.ns;
  const std::string_view account = full ? std::string_view(value).substr(slash + 1) : std::string_view(value);
  SetRegex(StrCat(kSpiffe, ".+/ns/", QuoteRegex(ns), "/(.+/|)sa/", QuoteRegex(account), "(/.+)?"),
           IdentityOf(condition, out));
  return true;
}

bool OfTrustDomain(const AccessCondition& condition, const std::string& value, Principal* out) {
  const size_t star = value.find('*');
  if (value == "*") {
    IdentityOf(condition, out)->set_prefix(std::string(kSpiffe));
  } else if (star == std::string::npos) {
    IdentityOf(condition, out)->set_prefix(StrCat(kSpiffe, value, "/"));
  } else {
    const std::string_view text = value;
    SetRegex(
        StrCat(kSpiffe, QuoteRegex(text.substr(0, star)), "[^/]*", QuoteRegex(text.substr(star + 1)), "/.*"),
        IdentityOf(condition, out));
  }
  return true;
}

bool OfSourceIp(const AccessCondition&, const std::string& value, Principal* out) {
  return SetRange(value, out->mutable_direct_remote_ip());
}

bool OfRemoteIp(const AccessCondition&, const std::string& value, Principal* out) {
  return SetRange(value, out->mutable_remote_ip());
}

bool OfHeader(const AccessCondition& condition, const std::string& value, Principal* out) {
  const std::string_view name = condition.argument;
  if (name.size() < 2 || !name.starts_with('[') || !name.ends_with(']')) return false;
  SetHeader(name.substr(1, name.size() - 2), value, /*ignore_case=*/false, out->mutable_header());
  return true;
}

// "issuer/subject"; the issuer may hold slashes. A "*" at either end is a wildcard.
void SetRequestPrincipal(std::string_view value, Principal* out) {
  StringMatcher issuer, subject;
  const size_t slash = value.rfind('/');
  const bool both = slash != std::string_view::npos;
  const std::string_view first = value.substr(0, slash), second = both ? value.substr(slash + 1) : "";
  SetRegex(kAnyText, &issuer);
  SetRegex(kAnyText, &subject);
  if (value.starts_with('*') && value != "*") {
    SetText(both ? first : value, "", both ? &issuer : &subject);
    if (both) subject.set_exact(std::string(second));
  } else if (value.ends_with('*') && value != "*") {
    SetText(both ? second : value, "", both ? &subject : &issuer);
    if (both) issuer.set_exact(std::string(first));
  } else if (value != "*") {
    issuer.set_exact(std::string(first));
    subject.set_exact(std::string(second));
  }
  auto* ids = out->mutable_and_ids();
  *SetClaim("iss", ids->add_ids()->mutable_metadata())->mutable_string_match() = std::move(issuer);
  *SetClaim("sub", ids->add_ids()->mutable_metadata())->mutable_string_match() = std::move(subject);
}

bool OfRequestPrincipals(const AccessCondition&, const Values& values, Principal* out) {
  for (const std::string& value : values) {
    SetRequestPrincipal(value, values.size() == 1 ? out : out->mutable_or_ids()->add_ids());
  }
  return true;
}

// A claim that is one of the values, or a list that holds one.
void SetClaimValues(const Values& values, envoy::type::matcher::v3::ValueMatcher* out) {
  envoy::type::matcher::v3::ValueMatcher any;
  SetAnyOf(values, &any,
           [](std::string_view value, auto* m) { SetText(value, "", m->mutable_string_match()); });
  auto* either = out->mutable_or_match();
  *either->add_value_matchers()->mutable_list_match()->mutable_one_of() = any;
  *either->add_value_matchers() = std::move(any);
}

bool OfAudiences(const AccessCondition&, const Values& values, Principal* out) {
  SetClaimValues(values, SetClaim("aud", out->mutable_metadata()));
  return true;
}

bool OfPresenters(const AccessCondition&, const Values& values, Principal* out) {
  SetClaimValues(values, SetClaim("azp", out->mutable_metadata()));
  return true;
}

// "[a][b]" is the claim b in the claim a.
bool OfClaims(const AccessCondition& condition, const Values& values, Principal* out) {
  std::string_view rest = condition.argument;
  if (rest.size() < 2 || !rest.starts_with('[') || !rest.ends_with(']')) return false;
  rest = rest.substr(1, rest.size() - 2);
  auto* metadata = out->mutable_metadata();
  SetClaimFilter(metadata);
  for (size_t end = rest.find("]["); end != rest.npos; end = rest.find("][")) {
    metadata->add_path()->set_key(std::string(rest.substr(0, end)));
    rest.remove_prefix(end + 2);
  }
  metadata->add_path()->set_key(std::string(rest));
  SetClaimValues(values, metadata->mutable_value());
  return true;
}

constexpr AccessAttribute<Principal> kMore[] = {
    {.key = "source.ip", .of_value = OfSourceIp},
    {.key = "remote.ip", .of_value = OfRemoteIp},
    {.key = "source.namespace", .of_value = OfNamespace},
    {.key = "source.serviceAccount", .of_value = OfServiceAccount},
    {.key = "source.trustDomain", .of_value = OfTrustDomain, .with_aliases = TrustDomainsWithAliases},
    {.key = "source.principal", .of_value = OfPrincipal, .with_aliases = PrincipalsWithAliases},
    {.key = "request.auth.principal", .of_values = OfRequestPrincipals, .http_only = true},
    {.key = "request.auth.audiences", .of_values = OfAudiences, .http_only = true},
    {.key = "request.auth.presenter", .of_values = OfPresenters, .http_only = true},
    {.key = "request.headers", .of_value = OfHeader, .http_only = true},
    {.key = "request.auth.claims", .of_values = OfClaims, .http_only = true},
};

}  // namespace

constexpr AccessAttribute<Principal> kPrincipal{
    .key = "", .of_value = OfPrincipal, .with_aliases = PrincipalsWithAliases};
constexpr AccessAttribute<Principal> kRequestPrincipal{
    .key = "", .of_values = OfRequestPrincipals, .http_only = true};
constexpr AccessAttribute<Principal> kServiceAccount{.key = "", .of_value = OfServiceAccount};
constexpr AccessAttribute<Principal> kTrustDomain{
    .key = "", .of_value = OfTrustDomain, .with_aliases = TrustDomainsWithAliases};
constexpr AccessAttribute<Principal> kNamespace{.key = "", .of_value = OfNamespace};
constexpr AccessAttribute<Principal> kRemoteIp{.key = "", .of_value = OfRemoteIp};
constexpr AccessAttribute<Principal> kSourceIp{.key = "", .of_value = OfSourceIp};

std::span<const AccessAttribute<Principal>> MorePrincipals() { return kMore; }

}  // namespace fairlead::gen::security
