#include "simulate/access.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/strings.h"
#include "envoy/extensions/filters/http/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "proto/messages.h"
#include "simulate/access_match.h"
#include "simulate/tokens.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::config::rbac::v3::RBAC;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using HttpRbac = envoy::extensions::filters::http::rbac::v3::RBAC;
using NetworkRbac = envoy::extensions::filters::network::rbac::v3::RBAC;
using HttpAuthorizer = envoy::extensions::filters::http::ext_authz::v3::ExtAuthz;
using NetworkAuthorizer = envoy::extensions::filters::network::ext_authz::v3::ExtAuthz;

constexpr std::string_view kHttpRbac = "envoy.filters.http.rbac", kNetworkRbac = "envoy.filters.network.rbac";
constexpr std::string_view kHttpAuthorizer = "envoy.filters.http.ext_authz";
constexpr std::string_view kNetworkAuthorizer = "envoy.filters.network.ext_authz";
constexpr std::string_view kTokens = "envoy.filters.http.jwt_authn";
constexpr std::array kAll = {kHttpRbac, kNetworkRbac, kHttpAuthorizer, kNetworkAuthorizer, kTokens};

// What a rule of the filter came from.
struct Rule {
  ObjectName policy{"AuthorizationPolicy", "", ""};
  std::string number;
  bool unasked = false;  // stands for an external authorizer that cannot be asked
};

// Between the texts, the latter looked for behind the former.
std::string Between(std::string_view text, std::string_view from, std::string_view to) {
  const size_t start = text.find(from);
  if (start == text.npos) return "";
  text.remove_prefix(start + from.size());
  return std::string(text.substr(0, text.find(to)));
}

// "[istio-ext-authz-PROVIDER-]ns[shop]-policy[name]-rule[0][-deny-due-to-bad-CUSTOM-action]"
Rule RuleOf(const std::string& name) {
  Rule rule;
  rule.policy.ns = Between(name, "ns[", "]-policy[");
  rule.policy.name = Between(name, "]-policy[", "]-rule[");
  rule.number = Between(name, "]-rule[", "]");
  rule.unasked = name.ends_with("-deny-due-to-bad-CUSTOM-action");
  return rule;
}

std::string ToText(const Rule& rule) { return StrCat(ToText(rule.policy), " rule ", rule.number); }

void AddPolicy(const Rule& rule, SimulationOutcome* outcome) {
  auto& all = outcome->objects;
  if (std::find(all.begin(), all.end(), rule.policy) == all.end()) all.push_back(rule.policy);
}

bool Refuse(const SimulatedRequest& request, std::string reason, SimulationOutcome* outcome) {
  outcome->verdict = request.is_http() ? CallVerdict::kDirectResponse : CallVerdict::kClosed;
  outcome->status = request.is_http() ? 403 : 0;
  outcome->reason = std::move(reason);
  return true;
}

// None of several policies allows the request: all of them are to blame.
bool RefuseForWantOfOne(const RBAC& rules, const SimulatedRequest& request, SimulationOutcome* outcome) {
  for (const auto& [name, policy] : rules.policies()) AddPolicy(RuleOf(name), outcome);
  std::sort(outcome->objects.begin(), outcome->objects.end());
  return Refuse(request, "no AuthorizationPolicy allows it", outcome);
}

bool Enforce(const RBAC& rules, const SimulatedRequest& request, SimulationOutcome* outcome) {
  const std::string met = MetPolicy(rules, request);
  const Rule rule = RuleOf(met);
  if (rules.action() == RBAC::ALLOW && met.empty()) return RefuseForWantOfOne(rules, request, outcome);
  if (met.empty()) return false;
  AddPolicy(rule, outcome);
  switch (rules.action()) {
    case RBAC::DENY:
      return Refuse(request,
                    rule.unasked ? StrCat("the provider of ", ToText(rule), " cannot be asked")
                                 : StrCat(ToText(rule), " denies it"),
                    outcome);
    case RBAC::ALLOW:
      outcome->steps.push_back({"allowed by", ToText(rule)});
      return false;
    default:
      outcome->steps.push_back({"audited by", ToText(rule)});
      return false;
  }
}

// Rules that enforce nothing: what they find is told, and left for the filter that asks an authorizer.
void Try(std::string_view filter, const RBAC& rules, const std::string& prefix, SimulatedRequest* request,
         SimulationOutcome* outcome) {
  const std::string met = MetPolicy(rules, *request);
  if (!met.empty()) {
    auto& of_filter = (*request->metadata.mutable_fields())[std::string(filter)];
    proto::SetString(StrCat(prefix, "shadow_effective_policy_id"), met, of_filter.mutable_struct_value());
  }
  if (prefix == "istio_ext_authz_") return;
  const bool allows = rules.action() == RBAC::ALLOW;
  const std::string verdict = met.empty() == allows ? "would refuse" : "would allow";
  outcome->steps.push_back({"on trial", met.empty() ? StrCat("no rule is met: ", verdict)
                                                    : StrCat(ToText(RuleOf(met)), " ", verdict)});
  if (!met.empty()) AddPolicy(RuleOf(met), outcome);
}

template <typename Rbac>
bool RunRbac(std::string_view filter, const google::protobuf::Any& config, SimulatedRequest* request,
             SimulationOutcome* outcome) {
  Rbac rbac;
  if (!config.UnpackTo(&rbac)) return false;
  if (rbac.has_shadow_rules())
    Try(filter, rbac.shadow_rules(), rbac.shadow_rules_stat_prefix(), request, outcome);
  return rbac.has_rules() && Enforce(rbac.rules(), *request, outcome);
}

template <typename Authorizer>
void Ask(const google::protobuf::Any& config, const SimulatedRequest& request, SimulationOutcome* outcome) {
  Authorizer authorizer;
  if (!config.UnpackTo(&authorizer)) return;
  if (authorizer.has_filter_enabled_metadata() && !Matches(authorizer.filter_enabled_metadata(), request))
    return;
  std::string cluster = authorizer.grpc_service().envoy_grpc().cluster_name();
  if constexpr (std::is_same_v<Authorizer, HttpAuthorizer>) {
    if (cluster.empty()) cluster = authorizer.http_service().server_uri().cluster();
  }
  outcome->steps.push_back({"authorizer", cluster});
  const std::string asks = "external authorizer ";
  outcome->notes.push_back(StrCat(asks, cluster, " is asked: it is taken to allow the request"));
}

}  // namespace

bool DecidesAccess(std::string_view filter) {
  return std::find(kAll.begin(), kAll.end(), filter) != kAll.end();
}

bool RefusedByAccess(const HttpConnectionManager& manager, SimulatedRequest* request,
                     SimulationOutcome* outcome) {
  for (const auto& filter : manager.http_filters()) {
    if (filter.disabled()) continue;
    const auto& config = filter.typed_config();
    if (filter.name() == kHttpRbac && RunRbac<HttpRbac>(kHttpRbac, config, request, outcome)) return true;
    if (filter.name() == kTokens && RefusedForToken(config, request, outcome)) return true;
    if (filter.name() == kHttpAuthorizer) Ask<HttpAuthorizer>(config, *request, outcome);
  }
  return false;
}

bool RefusedByAccess(const envoy::config::listener::v3::Filter& filter, SimulatedRequest* request,
                     SimulationOutcome* outcome) {
  if (filter.name() == kNetworkAuthorizer) Ask<NetworkAuthorizer>(filter.typed_config(), *request, outcome);
  if (filter.name() != kNetworkRbac ||
      !RunRbac<NetworkRbac>(kNetworkRbac, filter.typed_config(), request, outcome))
    return false;
  // A filter of connections closes them, whatever they carry.
  outcome->verdict = CallVerdict::kClosed;
  outcome->status = 0;
  return true;
}

}  // namespace fairlead::simulate
