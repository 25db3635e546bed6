#include "gen/route/hash_rules.h"

#include <algorithm>

#include "gen/route/hash_policy.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {

void RuleCollector::AddService(const model::Service& service) {
  mesh::DestinationRulePtr rule = view_.Rule(service.hostname);
  if (rule != nullptr && HasConsistentHash(*rule->spec))
    rules_.emplace_back(service.hostname, std::move(rule));
}

void RuleCollector::AddHost(const std::string& host) {
  if (const model::ServicePtr service = view_.Imported(host)) AddService(*service);
}

void RuleCollector::AddDestinations(const mesh::VirtualService& virtual_service) {
  for (const auto& route : virtual_service.spec->http()) {
    for (const auto& destination : route.route()) AddHost(destination.destination().host());
  }
}

HashRules RuleCollector::Take() {
  std::sort(rules_.begin(), rules_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same_host = [](const auto& a, const auto& b) { return a.first == b.first; };
  rules_.erase(std::unique(rules_.begin(), rules_.end(), same_host), rules_.end());
  return std::move(rules_);
}

const istio::networking::v1alpha3::DestinationRule* FindRule(const HashRules& rules, std::string_view host) {
  const auto found =
      std::lower_bound(rules.begin(), rules.end(), host,
                       [](const auto& rule, std::string_view h) { return rule.first.str() < h; });
  const bool same = found != rules.end() && found->first == host;
  return same ? found->second->spec.get() : nullptr;
}

}  // namespace fairlead::gen::route
