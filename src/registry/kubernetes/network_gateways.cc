#include "registry/kubernetes/network_gateways.h"

#include <charconv>
#include <string>

#include "config/kubernetes_types.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "model/workload_labels.h"
#include "registry/kubernetes/service.h"

namespace fairlead::registry {
namespace {

constexpr uint32_t kDefaultGatewayPort = 15443;
constexpr uint32_t kHbonePort = 15008;

// The label's port, or the default where it is no number.
uint32_t GatewayPortOf(const LabelMap& labels) {
  const std::string_view text = LabelOr(labels, "networking.istio.io/gatewayPort");
  uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() ? port : kDefaultGatewayPort;
}

// Networks and ports of the service, without addresses.
std::vector<model::NetworkGateway> GatewayPorts(const model::Service& service, const MeshFacts& facts) {
  const std::string_view network = LabelOr(service.labels, model::kNetworkLabel);
  if (!network.empty()) {
    const uint32_t port = GatewayPortOf(service.labels);
    const bool takes_mtls = service.FindTcpPort(port) != nullptr;
    const bool takes_hbone = service.FindTcpPort(kHbonePort) != nullptr;
    if (!takes_mtls && !takes_hbone) return {};
    return {{network, facts.cluster, "", takes_mtls ? port : 0, takes_hbone ? kHbonePort : 0}};
  }
  const auto& by_host = facts.networks.service_gateways();
  const auto it = by_host.find(service.hostname.str());
  return it == by_host.end() ? std::vector<model::NetworkGateway>() : it->second;
}

// The annotation is a JSON object of labels; one that cannot be read selects every node.
LabelMap NodeSelectorOf(const LabelMap& annotations) {
  LabelMap selector;
  google::protobuf::Struct json;
  const std::string text(LabelOr(annotations, kNodeSelectorAnnotation));
  if (!google::protobuf::util::JsonStringToMessage(text, &json).ok()) return selector;
  for (const auto& [key, value] : json.fields()) {
    if (value.has_string_value()) selector[key] = value.string_value();
  }
  return selector;
}

std::vector<std::string> ExternalNodeAddresses(const LabelMap& selector, const config::ObjectStore& store,
                                               const Interned& cluster) {
  std::vector<std::string> addresses;
  for (const auto& [key, node] : store.All(config::Kind::kNode, cluster)) {
    if (!SelectorMatches(selector, node->meta().labels)) continue;
    for (const config::NodeAddress& address : node->Spec<config::NodeSpec>().addresses) {
      if (address.type != "ExternalIP" || address.address.empty()) continue;
      addresses.push_back(address.address);
      break;
    }
  }
  return addresses;
}

}  // namespace

bool MayBeNetworkGateway(const model::Service& service, const MeshFacts& facts) {
  return !LabelOr(service.labels, model::kNetworkLabel).empty() ||
         facts.networks.service_gateways().contains(service.hostname.str());
}

void AppendGatewaysOfService(const model::Service& service, const config::ObjectStore& store,
                             const MeshFacts& facts, std::vector<model::NetworkGateway>* gateways) {
  const std::vector<model::NetworkGateway> ports = GatewayPorts(service, facts);
  if (ports.empty()) return;
  std::vector<std::string> addresses = service.external_addresses;
  const LabelMap& annotations = service.source->meta().annotations;
  if (addresses.empty() && service.type == "NodePort" && annotations.contains(kNodeSelectorAnnotation)) {
    addresses = ExternalNodeAddresses(NodeSelectorOf(annotations), store, facts.object_cluster);
  }
  for (const std::string& address : addresses) {
    for (model::NetworkGateway gateway : ports) {
      if (const auto it = service.node_ports.find(gateway.port); it != service.node_ports.end()) {
        gateway.port = it->second;
      }
      gateway.address = address;
      gateways->push_back(std::move(gateway));
    }
  }
}

}  // namespace fairlead::registry
