#ifndef FAIRLEAD_GEN_LISTENER_RESERVED_PORTS_H_
#define FAIRLEAD_GEN_LISTENER_RESERVED_PORTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/protocol.h"
#include "model/proxy_class.h"
#include "model/settings.h"

namespace fairlead::gen::listener {

// Ports that a proxy cannot listen on: its static listeners (status, Prometheus), the virtual listeners, and
// ports below 1024 without privileges. Source: Istio's Proxy.CanBindToPort.
class ReservedPorts {
 public:
  ReservedPorts(const model::ProxyClass& proxy, const model::Settings& settings);

  // `bind` "" stands for the wildcard address where the protocol is HTTP, for a service's own address
  // otherwise. `virtual_listeners`: whether the virtual listeners' ports count (for a Sidecar's ingress they
  // don't).
  bool CanListen(std::string_view bind, uint32_t port, bool bind_to_port, model::Protocol protocol,
                 bool virtual_listeners = true) const;

 private:
  bool unprivileged_ = false;
  std::string_view wildcard_;
  std::vector<uint32_t> static_ports_;
  std::vector<uint32_t> virtual_ports_;
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_RESERVED_PORTS_H_
