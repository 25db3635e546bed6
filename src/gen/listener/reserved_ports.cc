#include "gen/listener/reserved_ports.h"

#include <algorithm>

#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen::listener {
namespace {

constexpr uint32_t kFirstUnprivilegedPort = 1024;

bool Contains(const std::vector<uint32_t>& ports, uint32_t port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

}  // namespace

ReservedPorts::ReservedPorts(const model::ProxyClass& proxy, const model::Settings& settings)
    : unprivileged_(proxy.unprivileged),
      wildcard_(proxy.ipv6 && !proxy.ipv4 ? "::" : "0.0.0.0"),
      static_ports_(proxy.reserved_ports),
      virtual_ports_({static_cast<uint32_t>(settings.mesh->proxy_listen_port()),
                      static_cast<uint32_t>(settings.mesh->proxy_inbound_listen_port())}) {}

bool ReservedPorts::CanListen(std::string_view bind, uint32_t port, bool bind_to_port,
                              model::Protocol protocol, bool virtual_listeners) const {
  if (bind_to_port && unprivileged_ && port > 0 && port < kFirstUnprivilegedPort) return false;
  // Another address leaves the wildcard listeners of the port alone.
  if (bind.empty() ? !model::IsHttp(protocol) : bind != wildcard_) return true;
  return !Contains(static_ports_, port) && !(virtual_listeners && Contains(virtual_ports_, port));
}

}  // namespace fairlead::gen::listener
