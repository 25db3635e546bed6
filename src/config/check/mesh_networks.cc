#include "config/check/check.h"
#include "config/check/names.h"
#include "config/spot.h"
#include "istio/mesh/v1alpha1/network.pb.h"

namespace fairlead::config::check {
namespace {

using istio::mesh::v1alpha1::MeshNetworks;
using istio::mesh::v1alpha1::Network;

void CheckEndpoints(const Network::NetworkEndpoints& endpoints, const Spot& at) {
  if (endpoints.has_from_cidr()) at.Field("fromCidr").Refuse(IpRangeProblem(endpoints.from_cidr()));
  if (endpoints.has_from_registry() && !IsDns1123Label(endpoints.from_registry())) {
    at.Field("fromRegistry")
        .Error("invalid-value", StrCat("\"", endpoints.from_registry(), "\" is no name of a registry"));
  }
}

void CheckNetworkGateway(const Network::IstioNetworkGateway& gateway, const Spot& at) {
  if (gateway.has_registry_service_name())
    at.Field("registryServiceName").Refuse(DomainProblem(gateway.registry_service_name()));
  const std::string& address = gateway.address();
  if (gateway.has_address() && !IpAddressProblem(address).empty() && !DomainProblem(address).empty()) {
    at.Field("address").Error("invalid-value",
                              StrCat("\"", address, "\" is neither an IP address nor a host name"));
  }
  at.Field("port").Refuse(PortProblem(gateway.port()));
}

}  // namespace

void CheckMeshNetworks(const MeshNetworks& networks, Node document, Report& report) {
  const ObjectMeta none;
  const Subject subject{report, document, none};
  const Spot root(subject);
  const Spot all(root, "networks");
  for (const auto& [name, network] : networks.networks()) {
    const Spot here(all, name);
    const Spot endpoints(here, "endpoints"), gateways(here, "gateways");
    for (int i = 0; i < network.endpoints_size(); ++i)
      CheckEndpoints(network.endpoints(i), Spot(endpoints, static_cast<size_t>(i)));
    for (int i = 0; i < network.gateways_size(); ++i)
      CheckNetworkGateway(network.gateways(i), Spot(gateways, static_cast<size_t>(i)));
  }
}

}  // namespace fairlead::config::check
