#ifndef FAIRLEAD_GEN_ROUTE_HASH_RULES_H_
#define FAIRLEAD_GEN_ROUTE_HASH_RULES_H_

#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "mesh/index/routing_objects.h"
#include "mesh/view/view.h"

namespace fairlead::gen::route {

// DestinationRules with consistent hashing by the host of their service; sorted, one a host.
using HashRules = std::vector<std::pair<Interned, mesh::DestinationRulePtr>>;

// Collects those that hosts' services have for the client.
class RuleCollector {
 public:
  explicit RuleCollector(mesh::View& view) : view_(view) {}

  void AddService(const model::Service& service);
  // The rule of the client's service under this host, if there is one.
  void AddHost(const std::string& host);
  // The rules of the destinations of HTTP routes.
  void AddDestinations(const mesh::VirtualService& virtual_service);
  HashRules Take();

 private:
  mesh::View& view_;
  HashRules rules_;
};

// Null where the host has none.
const istio::networking::v1alpha3::DestinationRule* FindRule(const HashRules& rules, std::string_view host);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HASH_RULES_H_
