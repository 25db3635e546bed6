#ifndef FAIRLEAD_GEN_LISTENER_INBOUND_H_
#define FAIRLEAD_GEN_LISTENER_INBOUND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gen/generator.h"
#include "gen/listener/encoded_fragments.h"
#include "gen/listener/reserved_ports.h"
#include "mesh/view/view.h"
#include "model/protocol.h"

namespace envoy::config::listener::v3 {
class FilterChain;
class Listener;
}  // namespace envoy::config::listener::v3
namespace istio::networking::v1alpha3 {
class ServerTLSSettings;
}

namespace fairlead::gen::listener {

// A port that the workload serves: of a service, or of a Sidecar's ingress listener; or, with number 0, all
// others.
struct InboundPort {
  uint32_t target = 0;  // where the workload listens; 0: any port
  uint32_t service_port = 0;
  model::Protocol protocol = model::Protocol::kUnsupported;
  mesh::MutualTlsMode mode = mesh::MutualTlsMode::kPermissive;
  bool passthrough = false;        // no service's: on to the original destination
  std::vector<std::string> binds;  // the first names filter chain, listener and statistics
  std::string hostname;            // of the service, for the tracing operation
  std::string tcp_stat_prefix;
  std::string config_path;  // of the Sidecar, for metadata; or ""
  // The TLS of a Sidecar's ingress; null: none. Points into the Sidecar's object.
  std::shared_ptr<const istio::networking::v1alpha3::ServerTLSSettings> tls;

  friend bool operator==(const InboundPort&, const InboundPort&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const InboundPort& p) {
    return H::combine(std::move(h), p.target, p.service_port, p.protocol, p.mode, p.hostname, p.binds);
  }
};

// One listener for traffic to the workload: "virtualInbound" with chains for all ports, or one that binds to
// a port.
struct InboundInputs {
  EncodedFragmentsPtr fragments;
  bool virtual_listener = true;
  std::vector<InboundPort> ports;  // of the virtual listener: in the order of the chains, passthrough first
  std::vector<config::ConfigPtr> policies = {};  // the PeerAuthentications that say how clients may come

  friend bool operator==(const InboundInputs&, const InboundInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const InboundInputs& i) {
    return H::combine(std::move(h), i.fragments.get(), i.virtual_listener, i.ports);
  }
};

OriginList OriginsOf(const InboundInputs& inputs);

// The inbound listeners of a sidecar: the virtual one (unless traffic is not intercepted), and those of a
// Sidecar's ingress that bind to a port. Source: Istio's buildInboundListeners.
std::vector<InboundInputs> CollectInbound(mesh::View& view, const EncodedFragmentsPtr& fragments);

// Pure.
void BuildInboundListener(const InboundInputs& inputs, envoy::config::listener::v3::Listener* out);

// Appends the port's filter chains: for each way in which clients may come (mutual TLS, plaintext, TLS of
// their own; HTTP or not). Pure. Source: Istio's getFilterChainMatchOptions and inboundChainForOpts.
void AddInboundChains(const EncodedFragments& fragments, const InboundPort& port,
                      envoy::config::listener::v3::Listener* out);

// Adds the listener filters that the chains need, each on the ports that need it. Pure. Source: Istio's
// populateListenerFilters.
void AddInspectors(envoy::config::listener::v3::Listener* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_INBOUND_H_
