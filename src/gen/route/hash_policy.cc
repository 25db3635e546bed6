#include "gen/route/hash_policy.h"

#include <algorithm>

#include "envoy/config/route/v3/route_components.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

// Of a TrafficPolicy or of one of its port settings.
template <typename Policy>
const ConsistentHash* HashOf(const Policy& policy) {
  return policy.load_balancer().has_consistent_hash() ? &policy.load_balancer().consistent_hash() : nullptr;
}

const ConsistentHash* HashOfPort(const api::TrafficPolicy& policy, uint32_t port) {
  for (const auto& setting : policy.port_level_settings()) {
    if (setting.port().number() == port) return HashOf(setting);
  }
  return nullptr;
}

bool UsesHash(const api::TrafficPolicy& policy) {
  const auto& ports = policy.port_level_settings();
  return HashOf(policy) != nullptr ||
         std::any_of(ports.begin(), ports.end(), [](const auto& port) { return HashOf(port) != nullptr; });
}

void BuildCookie(const ConsistentHash::HTTPCookie& cookie, pb::RouteAction::HashPolicy::Cookie* out) {
  out->set_name(cookie.name());
  out->set_path(cookie.path());
  if (cookie.has_ttl()) *out->mutable_ttl() = cookie.ttl();
  for (const auto& attribute : cookie.attributes()) {
    auto* added = out->add_attributes();
    added->set_name(attribute.name());
    added->set_value(attribute.value());
  }
}

}  // namespace

bool HasConsistentHash(const api::DestinationRule& rule) {
  const auto& subsets = rule.subsets();
  return UsesHash(rule.traffic_policy()) ||
         std::any_of(subsets.begin(), subsets.end(),
                     [](const auto& subset) { return UsesHash(subset.traffic_policy()); });
}

const ConsistentHash* HashOfServicePort(const api::DestinationRule& rule, uint32_t port) {
  const ConsistentHash* own = HashOfPort(rule.traffic_policy(), port);
  return own != nullptr ? own : HashOf(rule.traffic_policy());
}

const ConsistentHash* HashOfDestination(const api::DestinationRule& rule,
                                        const api::Destination& destination) {
  const auto at_port = [&](const api::TrafficPolicy& policy) {
    return destination.has_port() ? HashOfPort(policy, destination.port().number()) : nullptr;
  };
  for (const api::Subset& subset : rule.subsets()) {
    if (subset.name() != destination.subset()) continue;
    if (const ConsistentHash* hash = at_port(subset.traffic_policy())) return hash;
    if (const ConsistentHash* hash = HashOf(subset.traffic_policy())) return hash;
    break;
  }
  if (const ConsistentHash* hash = at_port(rule.traffic_policy())) return hash;
  return HashOf(rule.traffic_policy());
}

void AddHashPolicy(const ConsistentHash& hash, pb::RouteAction* out) {
  switch (hash.hash_key_case()) {
    case ConsistentHash::kHttpHeaderName:
      out->add_hash_policy()->mutable_header()->set_header_name(hash.http_header_name());
      return;
    case ConsistentHash::kHttpCookie:
      BuildCookie(hash.http_cookie(), out->add_hash_policy()->mutable_cookie());
      return;
    case ConsistentHash::kUseSourceIp:
      out->add_hash_policy()->mutable_connection_properties()->set_source_ip(hash.use_source_ip());
      return;
    case ConsistentHash::kHttpQueryParameterName:
      out->add_hash_policy()->mutable_query_parameter()->set_name(hash.http_query_parameter_name());
      return;
    case ConsistentHash::HASH_KEY_NOT_SET:
      return;
  }
}

}  // namespace fairlead::gen::route
