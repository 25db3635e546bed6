#include "gen/security/access_filters.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "gen/security/access_rule.h"
#include "gen/security/external_authorizer.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::security {
namespace {

namespace pb = envoy::config::rbac::v3;
using config::ConfigPtr;
using envoy::type::matcher::v3::MetadataMatcher;
using istio::security::v1beta1::AuthorizationPolicy;

constexpr std::string_view kCustomPrefix = "istio-ext-authz-";
constexpr std::string_view kCustomStatPrefix = "istio_ext_authz_";
// Names the policy that a shadow rule found, in the metadata of the RBAC filter.
constexpr std::string_view kEffectivePolicy = "shadow_effective_policy_id";

// What differs between the filters of connection managers and of connections.
struct Http {
  using Filter = envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
  using Rbac = envoy::extensions::filters::http::rbac::v3::RBAC;
  static constexpr std::string_view kRbac = "envoy.filters.http.rbac";
  static constexpr std::string_view kExtAuthz = "envoy.filters.http.ext_authz";
  static void SetStatPrefix(Rbac*) {}
  static auto* ExtAuthzOf(ExternalAuthorizer* authorizer) { return &authorizer->http; }
};
struct Network {
  using Filter = envoy::config::listener::v3::Filter;
  using Rbac = envoy::extensions::filters::network::rbac::v3::RBAC;
  static constexpr std::string_view kRbac = "envoy.filters.network.rbac";
  static constexpr std::string_view kExtAuthz = "envoy.filters.network.ext_authz";
  static void SetStatPrefix(Rbac* out) { out->set_stat_prefix("tcp."); }
  static auto* ExtAuthzOf(ExternalAuthorizer* authorizer) {
    return authorizer->tcp ? &*authorizer->tcp : nullptr;
  }
};

const AuthorizationPolicy& SpecOf(const ConfigPtr& policy) { return policy->Spec<AuthorizationPolicy>(); }

pb::Policy Never() {
  pb::Policy never;
  never.add_permissions()->mutable_not_rule()->set_any(true);
  never.add_principals()->mutable_not_id()->set_any(true);
  return never;
}

// The rules of the policies, each under the name of its policy behind the prefix. A policy without rules is
// there and matches nothing.
void AddRules(const ConfigPtr& policy, std::string_view prefix, const AccessForm& form, pb::RBAC* out) {
  const AuthorizationPolicy& spec = SpecOf(policy);
  const auto name_of = [&](int rule) {
    return StrCat(prefix, "ns[", policy->ns().str(), "]-policy[", policy->name().str(), "]-rule[", rule, "]");
  };
  for (int i = 0; i < spec.rules_size(); ++i) {
    auto made = BuildAccessPolicy(spec.rules(i), policy->ns().str(), form);
    if (made) (*out->mutable_policies())[name_of(i)] = *std::move(made);
  }
  if (spec.rules_size() == 0) (*out->mutable_policies())[name_of(0)] = Never();
}

pb::RBAC EmptyRules(AccessAction action) {
  pb::RBAC rules;
  rules.set_action(action == AccessAction::kAllow  ? pb::RBAC::ALLOW
                   : action == AccessAction::kDeny ? pb::RBAC::DENY
                                                   : pb::RBAC::LOG);
  return rules;
}

// What is enforced, and what is on trial.
struct Rules {
  std::optional<pb::RBAC> enforced, on_trial;

  pb::RBAC* For(const ConfigPtr& policy, AccessAction action) {
    std::optional<pb::RBAC>& rules = IsDryRun(*policy) ? on_trial : enforced;
    if (!rules) rules = EmptyRules(action);
    return &*rules;
  }
};

template <typename Chain>
typename Chain::Filter Pack(std::string_view name, const google::protobuf::Message& config) {
  typename Chain::Filter filter;
  filter.set_name(std::string(name));
  proto::Pack(config, filter.mutable_typed_config());
  return filter;
}

// Source: Istio's shadowRuleStatPrefix, which takes no rules for those of ALLOW.
std::string_view TrialStatPrefix(const std::optional<pb::RBAC>& on_trial) {
  if (!on_trial || on_trial->action() == pb::RBAC::ALLOW) return "istio_dry_run_allow_";
  return on_trial->action() == pb::RBAC::DENY ? "istio_dry_run_deny_" : "";
}

template <typename Chain>
class Builder {
 public:
  using Filters = std::vector<typename Chain::Filter>;

  Builder(const Authorization& authorization, const AccessChain& chain, bool tcp)
      : authorization_(authorization), trust_domains_(TrustDomainsOf(authorization)) {
    form_.tcp = tcp;
    form_.peer_in_filter_state = chain.peer_in_filter_state;
    form_.trust_domains = trust_domains_;
  }

  Filters Local() {
    Filters out;
    Add(authorization_.audit, AccessAction::kAudit, &out);
    Add(authorization_.deny, AccessAction::kDeny, &out);
    Add(authorization_.allow, AccessAction::kAllow, &out);
    return out;
  }

  Filters Custom() {
    std::map<std::string, Rules> by_provider;
    form_.action = AccessAction::kDeny;
    for (const ConfigPtr& policy : authorization_.custom) {
      const std::string& provider = SpecOf(policy).provider().name();
      const std::string prefix =
          provider.empty() ? std::string(kCustomPrefix) : StrCat(kCustomPrefix, provider, "-");
      AddRules(policy, prefix, form_, by_provider[provider].For(policy, form_.action));
    }
    Filters out;
    for (auto& [provider, rules] : by_provider) {
      auto authorizer = by_provider.size() > 1 && !authorization_.several_authorizers
                            ? std::nullopt  // only one can be asked
                            : FindAuthorizer(*authorization_.mesh, authorization_.services, provider);
      if (authorizer) {
        AddAuthorizer(provider, std::move(rules), &*authorizer, &out);
      } else {
        AddRefusal(rules, &out);
      }
    }
    return out;
  }

 private:
  void Add(const std::vector<ConfigPtr>& policies, AccessAction action, Filters* out) {
    if (policies.empty()) return;
    form_.action = action;
    Rules rules;
    for (const ConfigPtr& policy : policies) AddRules(policy, "", form_, rules.For(policy, action));
    typename Chain::Rbac rbac;
    Chain::SetStatPrefix(&rbac);
    rbac.set_shadow_rules_stat_prefix(std::string(TrialStatPrefix(rules.on_trial)));
    if (rules.enforced) *rbac.mutable_rules() = *std::move(rules.enforced);
    if (rules.on_trial) *rbac.mutable_shadow_rules() = *std::move(rules.on_trial);
    out->push_back(Pack<Chain>(Chain::kRbac, rbac));
  }

  // The rules are evaluated and enforce nothing: what they find turns on the filter that asks.
  void AddAuthorizer(const std::string& provider, Rules rules, ExternalAuthorizer* authorizer, Filters* out) {
    auto* config = Chain::ExtAuthzOf(authorizer);
    if (config == nullptr) return;
    typename Chain::Rbac rbac;
    Chain::SetStatPrefix(&rbac);
    rbac.set_shadow_rules_stat_prefix(std::string(kCustomStatPrefix));
    *rbac.mutable_shadow_rules() = std::move(rules.enforced).value_or(EmptyRules(AccessAction::kDeny));
    if (rules.on_trial && !rules.on_trial->policies().empty()) {
      *rbac.mutable_rules() = *std::move(rules.on_trial);
    }
    out->push_back(Pack<Chain>(Chain::kRbac, rbac));
    MetadataMatcher* enabled = config->mutable_filter_enabled_metadata();
    enabled->set_filter(std::string(Chain::kRbac));
    enabled->add_path()->set_key(StrCat(kCustomStatPrefix, kEffectivePolicy));
    enabled->mutable_value()->mutable_string_match()->set_prefix(StrCat(kCustomPrefix, provider));
    out->push_back(Pack<Chain>(Chain::kExtAuthz, *config));
  }

  // Nobody can be asked: what would be asked for is refused.
  void AddRefusal(const Rules& rules, Filters* out) {
    pb::RBAC refused = EmptyRules(AccessAction::kDeny);
    if (rules.enforced) {
      for (const auto& [name, policy] : rules.enforced->policies()) {
        (*refused.mutable_policies())[StrCat(name, "-deny-due-to-bad-CUSTOM-action")] = policy;
      }
    }
    typename Chain::Rbac rbac;
    Chain::SetStatPrefix(&rbac);
    *rbac.mutable_rules() = std::move(refused);
    out->push_back(Pack<Chain>(Chain::kRbac, rbac));
  }

  const Authorization& authorization_;
  const std::vector<std::string> trust_domains_;
  AccessForm form_;
};

template <typename Chain>
std::vector<typename Chain::Filter> Build(const Authorization& authorization, const AccessChain& chain,
                                          bool tcp) {
  if (authorization.empty()) return {};
  Builder<Chain> builder(authorization, chain, tcp);
  return chain.custom ? builder.Custom() : builder.Local();
}

}  // namespace

std::vector<Http::Filter> BuildHttpAccess(const Authorization& authorization, const AccessChain& chain) {
  return Build<Http>(authorization, chain, chain.tcp_rules);
}

std::vector<Network::Filter> BuildNetworkAccess(const Authorization& authorization,
                                                const AccessChain& chain) {
  return Build<Network>(authorization, chain, /*tcp=*/true);
}

}  // namespace fairlead::gen::security
