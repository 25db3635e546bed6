#ifndef FAIRLEAD_GEN_GATEWAY_LISTENER_INPUTS_H_
#define FAIRLEAD_GEN_GATEWAY_LISTENER_INPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gen/listener/chain.h"
#include "gen/listener/encoded_fragments.h"
#include "gen/listener/server_tls.h"
#include "mesh/index/merged_gateway.h"

// Everything that a router's listeners are made from.
namespace fairlead::gen::gateway {

// How the chain's connections are decrypted.
struct Termination {
  mesh::GatewayServerPtr server;   // null: they are not
  bool credential_socket = false;  // node metadata "credential"
  listener::SecretServer secret_server;

  friend bool operator==(const Termination& a, const Termination& b) {
    return (a.server == b.server || (a.server && b.server && *a.server == *b.server)) &&
           a.credential_socket == b.credential_socket && a.secret_server == b.secret_server;
  }
};

// One filter chain.
struct GatewayChain {
  std::vector<std::string> sni_hosts;  // "*" among them, or none at all: any
  bool mesh_tls = false;               // for mutual TLS between workloads, which its ALPN tells
  Termination termination;
  bool exchange_metadata = false;  // with the workload at the other end of mutual TLS
  std::string stat_prefix;         // of HTTP; "" for that of the listener
  std::variant<listener::TcpForward, listener::HttpForward> forward;

  friend bool operator==(const GatewayChain&, const GatewayChain&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GatewayChain& c) {
    h = H::combine(std::move(h), c.sni_hosts, c.mesh_tls, c.stat_prefix);
    return std::visit([&h](const auto& forward) { return H::combine(std::move(h), forward); }, c.forward);
  }
};

// Where datagrams go.
struct DatagramForward {
  std::vector<listener::WeightedCluster> clusters;  // none: all are dropped
  uint64_t total = 0;                               // of all weights; what is not the clusters' is dropped
  bool hash_source_ip = false;

  friend bool operator==(const DatagramForward&, const DatagramForward&) = default;
};

// One listener of a router.
struct GatewayListenerInputs {
  listener::EncodedFragmentsPtr fragments;
  std::string bind;
  std::string more_bind;  // of the other family; empty: none
  uint32_t port = 0;
  bool quic = false;                         // HTTP/3, over UDP
  std::optional<DatagramForward> datagrams;  // of a listener of UDP, which has no chains
  std::vector<GatewayChain> chains;          // else never empty

  std::string Name() const;
  friend bool operator==(const GatewayListenerInputs&, const GatewayListenerInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GatewayListenerInputs& i) {
    return H::combine(std::move(h), i.fragments.get(), i.bind, i.port, i.quic, i.datagrams.has_value(),
                      i.chains);
  }
};

// The Gateways whose servers decrypt, and what is in the fragments.
inline OriginList OriginsOf(const GatewayListenerInputs& inputs) {
  OriginList origins = OriginsOf(inputs.fragments);
  for (const GatewayChain& chain : inputs.chains) {
    if (chain.termination.server != nullptr) origins.Add(chain.termination.server->gateway);
  }
  return origins;
}

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_LISTENER_INPUTS_H_
