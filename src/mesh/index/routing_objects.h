#ifndef FAIRLEAD_MESH_INDEX_ROUTING_OBJECTS_H_
#define FAIRLEAD_MESH_INDEX_ROUTING_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/object.h"
#include "model/visibility.h"

namespace istio::networking::v1alpha3 {
class DestinationRule;
class VirtualService;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// A host that a route of a VirtualService sends or mirrors to: a Sidecar that imports the routes imports it
// too.
struct RouteDestination {
  std::string host;                            // qualified
  uint32_t port = 0;                           // 0 where the route names none: every port
  std::vector<std::string> source_namespaces;  // whom the route is for, sorted; empty: anybody
  friend auto operator<=>(const RouteDestination&, const RouteDestination&) = default;
};

// A VirtualService ready for generation: short names are qualified, delegates merged in (a delegate itself is
// not listed). Same pointer: unchanged. Immutable.
struct VirtualService {
  config::ConfigPtr object;  // the root object: name, namespace, age, origin
  std::vector<config::ConfigPtr>
      delegates;  // per delegating route, in order; null where there is none to use
  std::shared_ptr<const istio::networking::v1alpha3::VirtualService> spec;
  std::vector<std::string> gateways;  // qualified "namespace/name" or "mesh"; never empty
  model::Visibility visibility;
  bool for_mesh = false;  // gateways holds "mesh"
  // Made from a Gateway API route: matches a Sidecar's hosts as services do, and comes first in its own
  // namespace.
  bool gateway_semantics = false;
  std::vector<RouteDestination> destinations;  // sorted, unique
};
using VirtualServicePtr = std::shared_ptr<const VirtualService>;

// All DestinationRules of one namespace for one host, merged (Istio: ConsolidatedDestRule): subsets are
// united, the first (oldest) traffic policy wins. A rule with a workloadSelector is not merged with others.
// Immutable.
struct DestinationRule {
  std::vector<config::ConfigPtr> objects;  // what it was merged from, oldest first
  std::shared_ptr<const istio::networking::v1alpha3::DestinationRule> spec;  // host is qualified
  Interned ns;
  model::Visibility visibility;  // to other namespaces than its own
};
using DestinationRulePtr = std::shared_ptr<const DestinationRule>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_ROUTING_OBJECTS_H_
