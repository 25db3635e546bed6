#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/kubernetes_types.h"
#include "gateway_api/conversion/backend_policy.h"
#include "gateway_api/conversion/derived_object.h"
#include "gateway_api/names.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::ConfigPtr;
using config::Kind;
using config::ObjectKey;

// The number of a target's port; 0 where it has none of the name.
uint32_t PortNumber(const ObjectKey& target, const std::string& name, Lookups& lookups) {
  const ConfigPtr object = lookups.Find(target.kind, target.ns, target.name);
  if (object == nullptr) return 0;
  if (target.kind == Kind::kService) {
    for (const config::ServicePortSpec& port : object->Spec<config::ServiceSpec>().ports) {
      if (port.name == name) return static_cast<uint32_t>(port.port);
    }
    return 0;
  }
  for (const net::ServicePort& port : object->Spec<net::ServiceEntry>().ports()) {
    if (port.name() == name) return port.number();
  }
  return 0;
}

net::DestinationRule RuleOf(const std::vector<BackendRule>& rules, Lookups& lookups) {
  net::DestinationRule spec;
  spec.set_host(rules.front().host);
  net::TrafficPolicy* policy = spec.mutable_traffic_policy();
  std::map<std::string, const BackendRule*> sections;
  for (const BackendRule& rule : rules) {
    if (rule.section) {
      sections.emplace(*rule.section, &rule);
    } else if (!policy->has_tls()) {
      *policy->mutable_tls() = *rule.tls;
    }
  }
  std::multimap<uint32_t, const BackendRule*> ports;
  for (const auto& [name, rule] : sections) ports.emplace(PortNumber(rule->target, name, lookups), rule);
  for (const auto& [number, rule] : ports) {
    auto* port = policy->add_port_level_settings();
    port->mutable_port()->set_number(number);
    *port->mutable_tls() = *rule->tls;
  }
  return spec;
}

std::string NameOf(const BackendRule& rule) {
  const std::string name = rule.target.name.str();
  if (rule.target.kind == Kind::kService) return StrCat(name, "~", kDerivedName);
  return StrCat(name, "~", ReplaceAll(rule.host, ".", "-"), "~", kDerivedName);
}

}  // namespace

ConfigPtr MergeBackendRules(std::vector<BackendRule> rules, Lookups& lookups) {
  std::stable_sort(rules.begin(), rules.end(), [](const BackendRule& a, const BackendRule& b) {
    const config::ObjectMeta &x = a.policy->meta(), &y = b.policy->meta();
    return std::tie(x.creation_time, x.ns, x.name) < std::tie(y.creation_time, y.ns, y.name);
  });
  std::vector<std::string> parents;
  for (const BackendRule& rule : rules) {
    std::string parent = StrCat("BackendTLSPolicy/", rule.policy->ns().str(), ".", rule.policy->name().str());
    if (std::find(parents.begin(), parents.end(), parent) == parents.end())
      parents.push_back(std::move(parent));
  }
  LabelMap annotations;
  annotations.emplace(config::kParentsAnnotation, Join(parents, ","));
  const BackendRule& first = rules.front();
  // Without an age of its own, it comes before every DestinationRule that is written.
  return MakeDerived(Kind::kDestinationRule, first.target.ns, NameOf(first), *first.policy,
                     std::move(annotations), RuleOf(rules, lookups), 0);
}

}  // namespace fairlead::gateway_api
