#include "mesh/index/endpoint_traits.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>

#include "base/strings.h"

namespace fairlead::mesh {
namespace {

constexpr std::string_view kTunnelLabel = "networking.istio.io/tunnel";

bool RefusesMutualTls(const model::Endpoint& endpoint) { return endpoint.workload->tls_mode == "disabled"; }

std::string_view TunnelsOf(const model::Endpoint& endpoint) {
  return LabelOr(endpoint.workload->labels, kTunnelLabel);
}

// Which port it is of, and what is asked of it.
std::set<std::tuple<Interned, uint32_t, bool, std::string_view>> TraitsOf(
    const model::ServiceEndpoints& endpoints) {
  std::set<std::tuple<Interned, uint32_t, bool, std::string_view>> traits;
  for (const model::EndpointShard& shard : endpoints.shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      traits.emplace(endpoint.port_name, endpoint.service_port, RefusesMutualTls(endpoint),
                     TunnelsOf(endpoint));
    }
  }
  return traits;
}

bool OfPort(const model::Endpoint& endpoint, const model::ServicePort& port) {
  return endpoint.service_port != 0 ? endpoint.service_port == port.port : endpoint.port_name == port.name;
}

// Whether a port has endpoints, and the predicate is true of all of them.
template <typename Predicate>
bool AllOf(const model::ServiceEndpointsPtr& endpoints, const model::ServicePort& port,
           Predicate&& predicate) {
  bool any = false;
  if (endpoints == nullptr) return any;
  for (const model::EndpointShard& shard : endpoints->shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      if (!OfPort(endpoint, port)) continue;
      if (!predicate(endpoint)) return false;
      any = true;
    }
  }
  return any;
}

}  // namespace

const std::vector<std::string>& EndpointTraits::identities() const {
  static const auto* none = new std::vector<std::string>();
  return endpoints_ == nullptr ? *none : endpoints_->service_accounts;
}

bool EndpointTraits::AllTakeTunnels(const model::ServicePort& port) const {
  return AllOf(endpoints_, port, [](const model::Endpoint& endpoint) {
    const auto protocols = Split(TunnelsOf(endpoint), ',');
    return std::find(protocols.begin(), protocols.end(), "http") != protocols.end();
  });
}

bool EndpointTraits::NoneRefusesMutualTls(const model::ServicePort& port) const {
  return AllOf(endpoints_, port, [](const model::Endpoint& endpoint) { return !RefusesMutualTls(endpoint); });
}

bool operator==(const EndpointTraits& a, const EndpointTraits& b) {
  if (a.endpoints_ == b.endpoints_) return true;
  if (a.endpoints_ == nullptr || b.endpoints_ == nullptr) return false;
  return a.endpoints_->service_accounts == b.endpoints_->service_accounts &&
         TraitsOf(*a.endpoints_) == TraitsOf(*b.endpoints_);
}

}  // namespace fairlead::mesh
