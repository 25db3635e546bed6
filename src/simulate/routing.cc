#include "simulate/routing.h"

#include <algorithm>

#include "base/strings.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::config::route::v3::Route;
using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::RouteMatch;
using envoy::config::route::v3::VirtualHost;

// How well a domain fits a host (in lower case); 0: not at all.
size_t DomainScore(std::string_view domain, std::string_view host) {
  constexpr size_t kExact = size_t{3} << 32, kSuffix = size_t{2} << 32, kPrefix = size_t{1} << 32;
  if (domain == "*") return 1;
  if (domain == host) return kExact;
  // The wildcard stands for at least one character.
  if (host.size() < domain.size()) return 0;
  if (domain.starts_with('*') && host.ends_with(domain.substr(1))) return kSuffix + domain.size();
  if (domain.ends_with('*') && host.starts_with(domain.substr(0, domain.size() - 1)))
    return kPrefix + domain.size();
  return 0;
}

bool SamePath(std::string_view a, std::string_view b, bool case_sensitive) {
  return case_sensitive ? a == b : EqualsIgnoreCase(a, b);
}

bool MatchesPath(const RouteMatch& match, std::string_view path, std::vector<std::string>* notes) {
  const bool exact_case = !match.has_case_sensitive() || match.case_sensitive().value();
  switch (match.path_specifier_case()) {
    case RouteMatch::kPrefix:
      return SamePath(path.substr(0, match.prefix().size()), match.prefix(), exact_case);
    case RouteMatch::kPath:
      return SamePath(path, match.path(), exact_case);
    case RouteMatch::kSafeRegex:
      return Matches(match.safe_regex(), path);
    case RouteMatch::kPathSeparatedPrefix: {
      const std::string_view prefix = match.path_separated_prefix();
      return SamePath(path.substr(0, prefix.size()), prefix, exact_case) &&
             (path.size() == prefix.size() || path[prefix.size()] == '/');
    }
    case RouteMatch::kPathMatchPolicy:
      notes->push_back("a route with a path_match_policy was passed over: it is not simulated");
      return false;
    default:
      return false;
  }
}

bool IsGrpc(const SimulatedRequest& request) {
  const std::string type = request.Header("content-type").value_or("");
  return type == "application/grpc" || type.starts_with("application/grpc+");
}

bool MatchesTls(const RouteMatch::TlsContextMatchOptions& options, const SimulatedRequest& request) {
  const bool certificate = request.tls && request.tls->client_certificate;
  return (!options.has_presented() || options.presented().value() == certificate) &&
         (!options.has_validated() || options.validated().value() == certificate);
}

bool Matches(const RouteMatch& match, const SimulatedRequest& request, std::vector<std::string>* notes) {
  if (match.has_runtime_fraction() && Percent(match.runtime_fraction().default_value()) <= request.draw)
    return false;
  if (match.has_grpc() && !IsGrpc(request)) return false;
  const auto holds = [&](const auto& matcher) { return simulate::Matches(matcher, request); };
  if (!std::all_of(match.headers().begin(), match.headers().end(), holds)) return false;
  if (!std::all_of(match.query_parameters().begin(), match.query_parameters().end(), holds)) return false;
  if (match.has_tls_context() && !MatchesTls(match.tls_context(), request)) return false;
  if (!std::all_of(match.dynamic_metadata().begin(), match.dynamic_metadata().end(), holds)) return false;
  // A CONNECT request is for routes that say so, and these are for no other.
  if (match.has_connect_matcher() || request.method == "CONNECT")
    return match.has_connect_matcher() && request.method == "CONNECT";
  return MatchesPath(match, PathOnly(request.path), notes);
}

// How much of the path (without query) a match consumed.
size_t MatchedLength(const RouteMatch& match, std::string_view path) {
  switch (match.path_specifier_case()) {
    case RouteMatch::kPrefix:
      return match.prefix().size();
    case RouteMatch::kPathSeparatedPrefix:
      return match.path_separated_prefix().size();
    default:
      return PathOnly(path).size();
  }
}

}  // namespace

std::string_view WithoutPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == authority.npos || authority.find_first_not_of("0123456789", colon + 1) != authority.npos)
    return authority;
  // More than one colon without brackets is an IPv6 address, not a port.
  if (authority.find(':') != colon && (colon == 0 || authority[colon - 1] != ']')) return authority;
  return authority.substr(0, colon);
}

const VirtualHost* ChooseVirtualHost(const RouteConfiguration& configuration,
                                     const SimulatedRequest& request) {
  std::string_view authority = request.authority;
  if (configuration.ignore_port_in_host_matching()) authority = WithoutPort(authority);
  const std::string host = AsciiLower(authority);
  const VirtualHost* best = nullptr;
  size_t best_score = 0;
  for (const VirtualHost& one : configuration.virtual_hosts()) {
    for (const std::string& domain : one.domains()) {
      const size_t score = DomainScore(AsciiLower(domain), host);
      if (score <= best_score) continue;
      best = &one;
      best_score = score;
    }
  }
  return best;
}

const Route* ChooseRoute(const VirtualHost& host, const SimulatedRequest& request,
                         std::vector<std::string>* notes) {
  for (const Route& route : host.routes()) {
    if (Matches(route.match(), request, notes)) return &route;
  }
  return nullptr;
}

std::string WithPrefixRewritten(const RouteMatch& match, std::string_view prefix, std::string_view path) {
  return StrCat(prefix, path.substr(std::min(MatchedLength(match, path), path.size())));
}

}  // namespace fairlead::simulate
