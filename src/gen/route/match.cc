#include "gen/route/match.h"

#include <algorithm>

#include "base/strings.h"
#include "envoy/config/route/v3/route_components.pb.h"
#include "envoy/type/matcher/v3/metadata.pb.h"
#include "gen/route/string_match.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;
namespace matcher = envoy::type::matcher::v3;

using StringMatches = google::protobuf::Map<std::string, api::StringMatch>;
using NamedMatch = std::pair<std::string_view, const api::StringMatch*>;

std::vector<NamedMatch> Sorted(const StringMatches& matches) {
  std::vector<NamedMatch> out;
  out.reserve(matches.size());
  for (const auto& [name, match] : matches) out.emplace_back(name, &match);
  std::sort(out.begin(), out.end());
  return out;
}

void BuildHeaderMatch(std::string_view name, const api::StringMatch& match, pb::HeaderMatcher* out) {
  out->set_name(std::string(name));
  if (IsPresenceMatch(match)) {
    out->set_present_match(true);
  } else {
    ConvertStringMatch(match, out->mutable_string_match());
  }
}

// Where the JWT filter leaves the claims of a token; a claim may be a string or a list of strings.
void BuildClaimMatch(const std::vector<std::string>& claims, const api::StringMatch& match,
                     matcher::MetadataMatcher* out) {
  out->set_filter("envoy.filters.http.jwt_authn");
  out->add_path()->set_key("payload");
  for (const std::string& claim : claims) out->add_path()->set_key(claim);
  matcher::ValueMatcher value;
  ConvertStringMatch(match, value.mutable_string_match());
  auto* either = out->mutable_value()->mutable_or_match();
  *either->add_value_matchers()->mutable_list_match()->mutable_one_of() = value;
  *either->add_value_matchers() = value;
}

void BuildHeaderMatches(const api::HTTPMatchRequest& match, pb::RouteMatch* out) {
  std::vector<pb::HeaderMatcher> headers;
  for (const auto& [name, value] : Sorted(match.headers())) {
    if (const auto claims = RoutingClaims(name); !claims.empty()) {
      BuildClaimMatch(claims, *value, out->add_dynamic_metadata());
    } else {
      BuildHeaderMatch(name, *value, &headers.emplace_back());
    }
  }
  for (const auto& [name, value] : Sorted(match.without_headers())) {
    if (const auto claims = RoutingClaims(name); !claims.empty()) {
      matcher::MetadataMatcher* claim = out->add_dynamic_metadata();
      BuildClaimMatch(claims, *value, claim);
      claim->set_invert(true);
      continue;
    }
    pb::HeaderMatcher& header = headers.emplace_back();
    BuildHeaderMatch(name, *value, &header);
    header.set_invert_match(true);
    // Envoy refuses the two together.
    if (!header.has_present_match()) header.set_treat_missing_header_as_empty(true);
  }
  std::stable_sort(headers.begin(), headers.end(),
                   [](const auto& a, const auto& b) { return a.name() < b.name(); });
  for (pb::HeaderMatcher& header : headers) *out->add_headers() = std::move(header);
}

void BuildPathMatch(const api::StringMatch& uri, Semantics semantics, pb::RouteMatch* out) {
  switch (uri.match_type_case()) {
    case api::StringMatch::kExact:
      out->set_path(uri.exact());
      return;
    case api::StringMatch::kRegex:
      out->mutable_safe_regex()->set_regex(uri.regex());
      return;
    case api::StringMatch::kPrefix:
      break;
    case api::StringMatch::MATCH_TYPE_NOT_SET:
      return;
  }
  std::string_view prefix = uri.prefix();
  if (semantics == Semantics::kIstio || prefix == "/") {
    out->set_prefix(std::string(prefix));
    return;
  }
  // Ingresses and HTTPRoutes match whole path elements.
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  out->set_path_separated_prefix(std::string(prefix));
}

void BuildQueryMatches(const api::HTTPMatchRequest& match, pb::RouteMatch* out) {
  for (const auto& [name, value] : Sorted(match.query_params())) {
    pb::QueryParameterMatcher* parameter = out->add_query_parameters();
    parameter->set_name(std::string(name));
    if (IsPresenceMatch(*value)) {
      parameter->set_present_match(true);
    } else {
      ConvertStringMatch(*value, parameter->mutable_string_match());
    }
  }
}

}  // namespace

std::vector<std::string> RoutingClaims(std::string_view header) {
  constexpr std::string_view kPrefix = "@request.auth.claims";
  std::vector<std::string> claims;
  if (header.size() < kPrefix.size() || !EqualsIgnoreCase(header.substr(0, kPrefix.size()), kPrefix))
    return claims;
  std::string_view name = header.substr(kPrefix.size());
  if (name.size() > 1 && name.front() == '.') {
    for (std::string_view claim : Split(name.substr(1), '.')) claims.emplace_back(claim);
  } else if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
    for (size_t cut; (cut = name.find("][")) != std::string_view::npos; name.remove_prefix(cut + 2)) {
      claims.emplace_back(name.substr(0, cut));
    }
    claims.emplace_back(name);
  }
  return claims;
}

void BuildMatch(const api::HTTPMatchRequest* match, Semantics semantics, pb::RouteMatch* out) {
  out->set_prefix("/");
  if (match == nullptr) return;
  BuildHeaderMatches(*match, out);
  if (match->has_uri()) BuildPathMatch(match->uri(), semantics, out);
  out->mutable_case_sensitive()->set_value(!match->ignore_uri_case());
  if (match->has_method()) BuildHeaderMatch(":method", match->method(), out->add_headers());
  if (match->has_authority()) BuildHeaderMatch(":authority", match->authority(), out->add_headers());
  if (match->has_scheme()) BuildHeaderMatch(":scheme", match->scheme(), out->add_headers());
  BuildQueryMatches(*match, out);
}

bool IsCatchAll(const pb::Route& route) {
  const pb::RouteMatch& match = route.match();
  if (match.headers_size() > 0 || match.query_parameters_size() > 0 || match.dynamic_metadata_size() > 0) {
    return false;
  }
  switch (match.path_specifier_case()) {
    case pb::RouteMatch::kPrefix:
      return match.prefix() == "/";
    case pb::RouteMatch::kPathSeparatedPrefix:
      return match.path_separated_prefix() == "/";
    case pb::RouteMatch::kSafeRegex:
      return match.safe_regex().regex() == ".*";
    default:
      return false;
  }
}

}  // namespace fairlead::gen::route
