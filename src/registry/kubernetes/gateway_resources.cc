#include "registry/kubernetes/gateway_resources.h"

#include <string>
#include <string_view>

#include "base/strings.h"
#include "config/tree.h"
#include "model/workload_labels.h"

namespace fairlead::registry {
namespace {

using config::Node;

bool PassesThrough(Node listener, std::string_view gateway_port) {
  const Node tls = listener.Find("tls");
  if (!tls) return false;
  if (tls.Find("options").Find("gateway.istio.io/listener-protocol").String() == "auto-passthrough")
    return true;
  return listener.Find("port").text() == gateway_port;
}

bool IsUsable(Node address) {
  const std::string_view type = address.Find("type").String("IPAddress");
  return type == "IPAddress" || type == "Hostname";
}

}  // namespace

void AppendGatewaysOfResource(const config::ConfigObject& gateway, const MeshFacts& facts,
                              std::vector<model::NetworkGateway>* gateways) {
  if (!facts.settings->features.network_gateways) return;
  const LabelMap& labels = gateway.meta().labels;
  const std::string_view network = LabelOr(labels, model::kNetworkLabel);
  if (network.empty()) return;
  const std::string_view port = LabelOr(labels, "networking.istio.io/gatewayPort", "15443");
  const Node spec = gateway.Spec<config::Tree>().Find("spec");
  for (Node address : spec.Find("addresses").elements()) {
    if (!IsUsable(address)) continue;
    for (Node listener : spec.Find("listeners").elements()) {
      const uint32_t number = static_cast<uint32_t>(listener.Find("port").Unsigned().value_or(0));
      model::NetworkGateway found{network, facts.cluster, std::string(address.Find("value").String()), number,
                                  0};
      if (PassesThrough(listener, port)) gateways->push_back(found);
      if (listener.Find("protocol").String() != "HBONE") continue;
      found.hbone_port = number;
      gateways->push_back(found);
    }
  }
}

}  // namespace fairlead::registry
