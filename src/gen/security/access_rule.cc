#include "gen/security/access_rule.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "envoy/config/rbac/v3/rbac.pb.h"
#include "gen/security/access_values.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::gen::security {
namespace {

namespace pb = envoy::config::rbac::v3;
using istio::security::v1beta1::Condition;
using istio::security::v1beta1::Operation;
using istio::security::v1beta1::Rule;
using istio::security::v1beta1::Source;

// Permissions and principals are combined in the same ways, by other names.
auto* All(Permission* rule) { return rule->mutable_and_rules()->mutable_rules(); }
auto* All(Principal* rule) { return rule->mutable_and_ids()->mutable_ids(); }
auto* Any(Permission* rule) { return rule->mutable_or_rules()->mutable_rules(); }
auto* Any(Principal* rule) { return rule->mutable_or_ids()->mutable_ids(); }
auto* Not(Permission* rule) { return rule->mutable_not_rule(); }
auto* Not(Principal* rule) { return rule->mutable_not_id(); }

// Collects what all must hold of a request.
template <typename RuleOf>
class Terms {
 public:
  Terms(std::string_view ns, const AccessForm& form)
      : ns_(ns), form_(form), tolerant_(form.action != AccessAction::kAllow) {}

  // One of the values, and none of the others. `argument`: what stands behind the attribute's key.
  void Add(const AccessAttribute<RuleOf>& attribute, const Values& values, const Values& others,
           std::string_view argument = "") {
    const AccessCondition condition{ns_, argument, form_.peer_in_filter_state};
    const auto meant = [&](const Values& written) {
      const bool aliases = attribute.with_aliases != nullptr && !form_.trust_domains.empty();
      return aliases ? attribute.with_aliases(written, form_.trust_domains) : written;
    };
    if (auto one = OneOf(attribute, condition, meant(values))) *All(&rule_)->Add() = *std::move(one);
    if (auto one = OneOf(attribute, condition, meant(others))) *Not(All(&rule_)->Add()) = *std::move(one);
  }

  // Nothing where a value is malformed. Without terms anything goes.
  std::optional<RuleOf> Take() {
    if (failed_) return std::nullopt;
    if (All(&rule_)->empty()) All(&rule_)->Add()->set_any(true);
    return std::move(rule_);
  }

 private:
  std::optional<RuleOf> OneOf(const AccessAttribute<RuleOf>& attribute, const AccessCondition& condition,
                              const Values& values) {
    RuleOf out;
    if (values.empty()) return std::nullopt;
    if (form_.tcp && attribute.http_only) return Malformed();
    if (attribute.of_values != nullptr) {
      return attribute.of_values(condition, values, &out) ? std::optional(std::move(out)) : Malformed();
    }
    for (const std::string& value : values) {
      RuleOf one;
      if (attribute.of_value(condition, value, &one)) {
        *Any(&out)->Add() = std::move(one);
      } else {
        Malformed();
      }
    }
    return Any(&out)->empty() ? std::nullopt : std::optional(std::move(out));
  }
  std::nullopt_t Malformed() {
    failed_ |= !tolerant_;
    return std::nullopt;
  }

  const std::string_view ns_;
  const AccessForm& form_;
  const bool tolerant_;  // a malformed value is passed over
  bool failed_ = false;
  RuleOf rule_;
};

// A key is an attribute's whole, or begins with it where an argument follows.
template <typename RuleOf>
const AccessAttribute<RuleOf>* Find(std::span<const AccessAttribute<RuleOf>> table, std::string_view key) {
  const auto found =
      std::find_if(table.begin(), table.end(), [key](const AccessAttribute<RuleOf>& attribute) {
        if (!key.starts_with(attribute.key)) return false;
        return key.size() == attribute.key.size() || attribute.key.ends_with('.') ||
               key[attribute.key.size()] == '[';
      });
  return found == table.end() ? nullptr : &*found;
}

template <typename RuleOf>
void AddConditions(const Rule& rule, std::span<const AccessAttribute<RuleOf>> table, Terms<RuleOf>* terms) {
  for (const Condition& when : rule.when()) {
    const std::string_view key = when.key();
    const AccessAttribute<RuleOf>* attribute = Find(table, key);
    if (attribute != nullptr) {
      terms->Add(*attribute, when.values(), when.not_values(), key.substr(attribute->key.size()));
    }
  }
}

bool Known(const Rule& rule) {
  return std::all_of(rule.when().begin(), rule.when().end(), [](const Condition& when) {
    return Find(MorePermissions(), when.key()) != nullptr || Find(MorePrincipals(), when.key()) != nullptr;
  });
}

void AddSource(const Source& source, Terms<Principal>* terms) {
  terms->Add(kPrincipal, source.principals(), source.not_principals());
  terms->Add(kRequestPrincipal, source.request_principals(), source.not_request_principals());
  terms->Add(kServiceAccount, source.service_accounts(), source.not_service_accounts());
  terms->Add(kTrustDomain, source.trust_domains(), source.not_trust_domains());
  terms->Add(kNamespace, source.namespaces(), source.not_namespaces());
  terms->Add(kRemoteIp, source.remote_ip_blocks(), source.not_remote_ip_blocks());
  terms->Add(kSourceIp, source.ip_blocks(), source.not_ip_blocks());
}

void AddOperation(const Operation& operation, Terms<Permission>* terms) {
  terms->Add(kHost, operation.hosts(), operation.not_hosts());
  terms->Add(kMethod, operation.methods(), operation.not_methods());
  terms->Add(kPath, operation.paths(), operation.not_paths());
  terms->Add(kPort, operation.ports(), operation.not_ports());
}

}  // namespace

std::optional<pb::Policy> BuildAccessPolicy(const Rule& rule, std::string_view ns, const AccessForm& form) {
  if (!Known(rule)) return std::nullopt;
  pb::Policy out;
  // Without `from` or `to` there is one that says nothing.
  for (int i = 0; i < std::max(rule.from_size(), 1); ++i) {
    Terms<Principal> terms(ns, form);
    if (rule.from_size() > 0) AddSource(rule.from(i).source(), &terms);
    AddConditions(rule, MorePrincipals(), &terms);
    auto principal = terms.Take();
    if (!principal) return std::nullopt;
    *out.add_principals() = *std::move(principal);
  }
  for (int i = 0; i < std::max(rule.to_size(), 1); ++i) {
    Terms<Permission> terms(ns, form);
    if (rule.to_size() > 0) AddOperation(rule.to(i).operation(), &terms);
    AddConditions(rule, MorePermissions(), &terms);
    auto permission = terms.Take();
    if (!permission) return std::nullopt;
    *out.add_permissions() = *std::move(permission);
  }
  return out;
}

}  // namespace fairlead::gen::security
