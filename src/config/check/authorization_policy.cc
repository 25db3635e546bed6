#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "base/ip_address.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::config::check {
namespace {

using istio::security::v1beta1::AuthorizationPolicy;
using istio::security::v1beta1::Condition;
using istio::security::v1beta1::Operation;
using istio::security::v1beta1::Rule;
using istio::security::v1beta1::Source;
using Values = google::protobuf::RepeatedPtrField<std::string>;
using Problem = std::string (*)(std::string_view);

std::string WhyEmpty(std::string_view value) { return value.empty() ? "a value may not be empty" : ""; }

std::string AddressProblem(std::string_view value) {
  const bool range = value.find('/') != std::string_view::npos;
  if (range ? IpPrefix::Parse(value).has_value() : IsIpAddress(value)) return "";
  return StrCat("\"", value, "\" is no IP address or range");
}

std::string PortTextProblem(std::string_view value) {
  uint32_t port = 0;
  const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), port);
  const bool good = code == std::errc() && stop == value.data() + value.size() && port <= 65535;
  return good ? "" : StrCat("\"", value, "\" is no port");
}

std::string WildcardProblem(std::string_view value) {
  const auto stars = std::count(value.begin(), value.end(), '*');
  if (value.empty()) return "a value may not be empty";
  if (stars > 1 || (stars == 1 && !value.starts_with('*') && !value.ends_with('*')))
    return StrCat("\"", value, "\": one wildcard is allowed, at either end");
  return "";
}

std::string TrustDomainMatchProblem(std::string_view value) {
  if (value.find('/') != std::string_view::npos) return "a trust domain has no \"/\"";
  return WildcardProblem(value);
}

std::string ServiceAccountProblem(std::string_view value) {
  const auto slashes = std::count(value.begin(), value.end(), '/');
  if (value.empty() || slashes > 1 || value.starts_with('/') || value.ends_with('/'))
    return StrCat("\"", value, "\" is not serviceAccount or namespace/serviceAccount");
  if (value.find('*') != std::string_view::npos) return "wildcards are not allowed here";
  return value.size() > 320 ? "a service account has at most 320 bytes" : "";
}

// "{*}" stands for a segment of a path, "{**}" for the rest; a path without has no braces.
std::string PathProblem(std::string_view path) {
  if (path.empty()) return "a value may not be empty";
  static const RE2& literal = *new RE2("[a-zA-Z0-9-._~%!$&'()+,;:@=]+");
  const bool is_template =
      path.find("{*}") != std::string_view::npos || path.find("{**}") != std::string_view::npos;
  std::string_view inner = path;
  while (inner.starts_with('/')) inner.remove_prefix(1);
  while (inner.ends_with('/')) inner.remove_suffix(1);
  bool ended = false;
  for (std::string_view segment : Split(inner, '/')) {
    if (segment == "{*}" || segment == "{**}") {
      if (ended) return StrCat("\"", path, "\": {**} is not the last one");
      ended = segment == "{**}";
      continue;
    }
    if (segment.find_first_of("{}") != std::string_view::npos)
      return StrCat("\"", path, "\": braces are only in the segments {*} and {**}");
    if (is_template && !RE2::FullMatch(re2::StringPiece(segment.data(), segment.size()), literal))
      return StrCat("\"", path, "\": \"", segment, "\" is no segment of a path");
  }
  return "";
}

void CheckEach(const Values& values, Problem problem, const Spot& at) {
  for (int i = 0; i < values.size(); ++i) Spot(at, static_cast<size_t>(i)).Refuse(problem(values[i]));
}

void CheckAccounts(const Values& values, const Spot& at) {
  if (values.size() > 16) at.Error("out-of-range", "there are at most 16 service accounts");
  CheckEach(values, ServiceAccountProblem, at);
}

int Count(const Values& a, const Values& b) { return a.size() + b.size(); }

void CheckSource(const Source& source, const Spot& at) {
  const int accounts = Count(source.service_accounts(), source.not_service_accounts());
  const int names = Count(source.principals(), source.not_principals()) +
                    Count(source.namespaces(), source.not_namespaces());
  if (accounts > 0 && names > 0)
    at.Error("conflict", "serviceAccounts go not with namespaces and principals");
  const int all = accounts + names + Count(source.request_principals(), source.not_request_principals()) +
                  Count(source.ip_blocks(), source.not_ip_blocks()) +
                  Count(source.remote_ip_blocks(), source.not_remote_ip_blocks()) +
                  Count(source.trust_domains(), source.not_trust_domains());
  if (all == 0) at.Error("missing-field", "a source may not be empty");
  CheckEach(source.ip_blocks(), AddressProblem, Spot(at, "ipBlocks"));
  CheckEach(source.not_ip_blocks(), AddressProblem, Spot(at, "notIpBlocks"));
  CheckEach(source.remote_ip_blocks(), AddressProblem, Spot(at, "remoteIpBlocks"));
  CheckEach(source.not_remote_ip_blocks(), AddressProblem, Spot(at, "notRemoteIpBlocks"));
  CheckEach(source.principals(), WhyEmpty, Spot(at, "principals"));
  CheckEach(source.not_principals(), WhyEmpty, Spot(at, "notPrincipals"));
  CheckEach(source.request_principals(), WhyEmpty, Spot(at, "requestPrincipals"));
  CheckEach(source.not_request_principals(), WhyEmpty, Spot(at, "notRequestPrincipals"));
  CheckEach(source.namespaces(), WhyEmpty, Spot(at, "namespaces"));
  CheckEach(source.not_namespaces(), WhyEmpty, Spot(at, "notNamespaces"));
  CheckEach(source.trust_domains(), TrustDomainMatchProblem, Spot(at, "trustDomains"));
  CheckEach(source.not_trust_domains(), TrustDomainMatchProblem, Spot(at, "notTrustDomains"));
  CheckAccounts(source.service_accounts(), Spot(at, "serviceAccounts"));
  CheckAccounts(source.not_service_accounts(), Spot(at, "notServiceAccounts"));
}

void CheckOperation(const Operation& operation, const Spot& at) {
  if (Count(operation.ports(), operation.not_ports()) + Count(operation.methods(), operation.not_methods()) +
          Count(operation.paths(), operation.not_paths()) + Count(operation.hosts(), operation.not_hosts()) ==
      0) {
    at.Error("missing-field", "an operation may not be empty");
  }
  CheckEach(operation.ports(), PortTextProblem, Spot(at, "ports"));
  CheckEach(operation.not_ports(), PortTextProblem, Spot(at, "notPorts"));
  CheckEach(operation.methods(), WhyEmpty, Spot(at, "methods"));
  CheckEach(operation.not_methods(), WhyEmpty, Spot(at, "notMethods"));
  CheckEach(operation.hosts(), WhyEmpty, Spot(at, "hosts"));
  CheckEach(operation.not_hosts(), WhyEmpty, Spot(at, "notHosts"));
  CheckEach(operation.paths(), PathProblem, Spot(at, "paths"));
  CheckEach(operation.not_paths(), PathProblem, Spot(at, "notPaths"));
}

// "a[b]"
std::string KeyedProblem(std::string_view key) {
  const size_t open = key.find('[');
  const bool good = key.ends_with(']') && open != std::string_view::npos && open > 0 && open + 2 < key.size();
  return good ? "" : StrCat("\"", key, "\" has not the form name[key]");
}

void CheckValues(std::string_view key, const Values& values, const Spot& at) {
  CheckEach(values, WhyEmpty, at);
  if (key == "source.ip" || key == "remote.ip" || key == "destination.ip")
    CheckEach(values, AddressProblem, at);
  if (key == "destination.port") CheckEach(values, PortTextProblem, at);
  if (key == "source.serviceAccount") CheckAccounts(values, at);
  if (key == "source.trustDomain") CheckEach(values, WildcardProblem, at);
}

std::string AttributeProblem(std::string_view key) {
  for (std::string_view keyed : {"request.headers", "request.auth.claims", "experimental.envoy.filters."}) {
    if (key.starts_with(keyed)) return KeyedProblem(key);
  }
  for (std::string_view known :
       {"source.ip", "remote.ip", "source.namespace", "source.serviceAccount", "source.principal",
        "source.trustDomain", "request.auth.principal", "request.auth.audiences", "request.auth.presenter",
        "destination.ip", "destination.port", "connection.sni"}) {
    if (key == known) return "";
  }
  return StrCat("unknown attribute \"", key, "\"");
}

void CheckCondition(const Condition& condition, const Spot& at) {
  const Spot key(at, "key");
  if (condition.key().empty()) return key.Error("missing-field", "this field is required");
  if (condition.values_size() + condition.not_values_size() == 0)
    return at.Error("missing-field", "at least one of values and notValues is required");
  key.Refuse(AttributeProblem(condition.key()));
  CheckValues(condition.key(), condition.values(), Spot(at, "values"));
  CheckValues(condition.key(), condition.not_values(), Spot(at, "notValues"));
}

// What an external authorizer's rules cannot match.
void CheckCustomRule(const Rule& rule, const Spot& at) {
  const Spot from(at, "from"), when(at, "when");
  for (const auto& one : rule.from()) {
    const Source& source = one.source();
    if (Count(source.namespaces(), source.not_namespaces()) +
            Count(source.principals(), source.not_principals()) +
            Count(source.service_accounts(), source.not_service_accounts()) +
            Count(source.trust_domains(), source.not_trust_domains()) +
            Count(source.request_principals(), source.not_request_principals()) >
        0) {
      from.Error("unsupported", "with action CUSTOM only IP blocks of a source are matched");
    }
  }
  for (const Condition& one : rule.when()) {
    const std::string& key = one.key();
    if (key == "source.namespace" || key == "source.serviceAccount" || key == "source.trustDomain" ||
        key == "source.principal" || key.starts_with("request.auth.")) {
      when.Error("unsupported", StrCat(key, " is not matched with action CUSTOM"));
    }
  }
}

bool HasTcp(const Source& source) {
  return Count(source.principals(), source.not_principals()) +
             Count(source.ip_blocks(), source.not_ip_blocks()) +
             Count(source.namespaces(), source.not_namespaces()) +
             Count(source.remote_ip_blocks(), source.not_remote_ip_blocks()) +
             Count(source.service_accounts(), source.not_service_accounts()) >
         0;
}

void CheckRule(const Rule& rule, bool deny, const Spot& at) {
  bool from_tcp = false, to_tcp = false;
  const Spot froms(at, "from"), tos(at, "to"), whens(at, "when");
  bool any_from = false, any_to = false;
  for (int i = 0; i < rule.from_size(); ++i) {
    const Spot here(froms, static_cast<size_t>(i));
    const Spot source(here, "source");
    if (!rule.from(i).has_source()) {
      source.Error("missing-field", "this field is required");
      continue;
    }
    any_from = true;
    from_tcp = from_tcp || HasTcp(rule.from(i).source());
    CheckSource(rule.from(i).source(), source);
  }
  for (int i = 0; i < rule.to_size(); ++i) {
    const Spot here(tos, static_cast<size_t>(i));
    const Spot operation(here, "operation");
    if (!rule.to(i).has_operation()) {
      operation.Error("missing-field", "this field is required");
      continue;
    }
    any_to = true;
    to_tcp = to_tcp || Count(rule.to(i).operation().ports(), rule.to(i).operation().not_ports()) > 0;
    CheckOperation(rule.to(i).operation(), operation);
  }
  for (int i = 0; i < rule.when_size(); ++i)
    CheckCondition(rule.when(i), Spot(whens, static_cast<size_t>(i)));
  if (deny && ((any_from && !any_to && !from_tcp) || (any_to && !to_tcp)))
    at.Warn("denies-tcp", "a DENY rule of HTTP attributes alone denies all TCP traffic; name the ports");
}

}  // namespace

void CheckAuthorizationPolicy(const google::protobuf::Message& message, const Spot& spec) {
  const auto& policy = static_cast<const AuthorizationPolicy&>(message);
  CheckTargets(policy, spec);
  const Spot rules(spec, "rules");
  const bool custom = policy.action() == AuthorizationPolicy::CUSTOM;
  const bool deny = policy.action() == AuthorizationPolicy::DENY;
  const bool none = policy.rules_size() == 0;
  if ((custom || deny) && none)
    rules.Error("missing-field",
                "without rules this never applies; write an empty rule {} for every request");
  if (custom && !none && policy.provider().name().empty()) {
    const Spot provider(spec, "provider");
    provider.Field("name").Error("missing-field", "action CUSTOM wants a provider");
  }
  if (policy.has_provider() && !custom)
    spec.Field("provider").Error("conflict", "a provider is only for action CUSTOM");
  for (int i = 0; i < policy.rules_size(); ++i) {
    const Spot here(rules, static_cast<size_t>(i));
    if (custom) CheckCustomRule(policy.rules(i), here);
    CheckRule(policy.rules(i), deny, here);
  }
}

}  // namespace fairlead::config::check
