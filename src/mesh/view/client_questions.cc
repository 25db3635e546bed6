#include "mesh/view/client_questions.h"

namespace fairlead::mesh::questions {

std::vector<GatewayTarget> TargetPorts::Answer(const ProxyScope& client) {
  constexpr std::string_view kUntranslatedLabel = "experimental.istio.io/disable-gateway-port-translation";
  std::vector<GatewayTarget> targets;
  for (const ServiceTarget& target : *client.targets) {
    GatewayTarget& added = targets.emplace_back();
    added.hostname = target.service->hostname;
    added.ns = target.service->ns;
    added.port = target.port->port;
    added.target_port = target.target_port;
    added.udp = target.port->protocol == model::Protocol::kUdp;
    added.untranslated = target.service->labels.contains(kUntranslatedLabel);
  }
  return targets;
}

}  // namespace fairlead::mesh::questions
