#include "registry/networks.h"

#include <algorithm>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/workload_labels.h"

namespace fairlead::registry {
namespace {

using istio::mesh::v1alpha1::Network;

// Networks by name: the proto's own map has no order.
std::map<std::string_view, const Network*> Sorted(const istio::mesh::v1alpha1::MeshNetworks& networks) {
  std::map<std::string_view, const Network*> sorted;
  for (const auto& [name, network] : networks.networks()) sorted.emplace(name, &network);
  return sorted;
}

bool IsFromRegistry(const Network& network, std::string_view cluster) {
  return std::any_of(network.endpoints().begin(), network.endpoints().end(),
                     [&](const Network::NetworkEndpoints& e) { return e.from_registry() == cluster; });
}

}  // namespace

NetworkLookup::NetworkLookup(const model::Settings& settings, const Interned& cluster,
                             const LabelMap& system_namespace_labels, std::vector<std::string>* problems)
    : system_network_(LabelOr(system_namespace_labels, model::kNetworkLabel)) {
  if (settings.networks != nullptr) AddNetworks(settings, cluster, problems);
}

void NetworkLookup::AddNetworks(const model::Settings& settings, const Interned& cluster,
                                std::vector<std::string>* problems) {
  for (const auto& [name, network] : Sorted(*settings.networks)) {
    for (const auto& endpoints : network->endpoints()) {
      if (endpoints.from_cidr().empty()) continue;
      if (const auto prefix = IpPrefix::Parse(endpoints.from_cidr())) {
        ranges_.push_back({*prefix, name});
      } else {
        problems->push_back(StrCat("MeshNetworks: network ", name, ": fromCidr \"", endpoints.from_cidr(),
                                   "\" is not a range of addresses"));
      }
    }
    const bool from_registry = IsFromRegistry(*network, cluster);
    if (from_registry && registry_network_.empty()) {
      registry_network_ = name;
    } else if (from_registry) {
      problems->push_back(StrCat("MeshNetworks: networks ", registry_network_.str(), " and ", name,
                                 " both name fromRegistry ", cluster.str(), "; the first is taken"));
    }
    for (const auto& gateway : network->gateways()) {
      model::NetworkGateway out{name, "", gateway.address(), gateway.port(), 0};
      if (!gateway.address().empty()) {
        static_gateways_.push_back(out);
      } else if (from_registry && !gateway.registry_service_name().empty()) {
        out.cluster = cluster;
        service_gateways_[gateway.registry_service_name()].push_back(out);
      }
    }
  }
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const Range& a, const Range& b) { return a.prefix.bits < b.prefix.bits; });
}

Interned NetworkLookup::NetworkOf(std::string_view ip, const LabelMap& labels) const {
  if (const std::string_view label = LabelOr(labels, model::kNetworkLabel); !label.empty()) return label;
  if (!system_network_.empty()) return system_network_;
  if (!registry_network_.empty()) return registry_network_;
  if (ranges_.empty()) return {};
  const std::optional<IpAddress> address = IpAddress::Parse(ip);
  if (!address) return {};
  for (const Range& range : ranges_) {
    if (range.prefix.Contains(*address)) return range.network;
  }
  return {};
}

}  // namespace fairlead::registry
