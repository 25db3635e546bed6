#include "gen/listener/reserved_ports.h"

#include <algorithm>

#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen::listener {
namespace {

constexpr uint32_t kFirstUnprivilegedPort = 1024;

// What Go's strconv.ParseBool takes for true.
bool IsTrue(std::string_view text) {
  constexpr std::string_view kTrue[] = {"1", "t", "T", "TRUE", "true", "True"};
  return std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue);
}

bool Contains(const std::vector<uint32_t>& ports, uint32_t port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

}  // namespace

ReservedPorts::ReservedPorts(const model::Proxy& proxy, const model::Settings& settings)
    : unprivileged_(IsTrue(proxy.metadata.unprivileged_pod)),
      wildcard_(proxy.supports_ipv6 && !proxy.supports_ipv4 ? "::" : "0.0.0.0"),
      virtual_ports_({static_cast<uint32_t>(settings.mesh->proxy_listen_port()),
                      static_cast<uint32_t>(settings.mesh->proxy_inbound_listen_port())}) {
  const model::ProxyMetadata& metadata = proxy.metadata;
  for (const int port : {metadata.envoy_status_port, metadata.envoy_prometheus_port,
                         metadata.envoy_secure_metrics_port, metadata.envoy_secure_merged_metrics_port}) {
    if (port > 0) static_ports_.push_back(port);
  }
}

bool ReservedPorts::CanListen(std::string_view bind, uint32_t port, bool bind_to_port,
                              model::Protocol protocol, bool virtual_listeners) const {
  if (bind_to_port && unprivileged_ && port > 0 && port < kFirstUnprivilegedPort) return false;
  // Another address leaves the wildcard listeners of the port alone.
  if (bind.empty() ? !model::IsHttp(protocol) : bind != wildcard_) return true;
  return !Contains(static_ports_, port) && !(virtual_listeners && Contains(virtual_ports_, port));
}

}  // namespace fairlead::gen::listener
