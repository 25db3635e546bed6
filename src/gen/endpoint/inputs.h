#ifndef FAIRLEAD_GEN_ENDPOINT_INPUTS_H_
#define FAIRLEAD_GEN_ENDPOINT_INPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "mesh/index/peer_authentication.h"
#include "mesh/index/routing_objects.h"
#include "mesh/index/snapshot.h"
#include "model/endpoint.h"
#include "model/proxy.h"
#include "model/service.h"
#include "model/settings.h"

namespace fairlead::gen {

// The attributes of a client that its endpoints may depend on. Collect leaves out attributes without
// influence on a service's endpoints. Clients with equal attributes then share one result.
struct EndpointClient {
  bool waypoint = false;
  bool sidecar = true;          // matters where there are other networks
  Interned cluster;             // for cluster-local and node-local services
  Interned node_name;           // for node-local services
  bool other_networks = false;  // the next three matter
  Interned network;
  bool ipv4 = true, ipv6 = false;
  std::vector<std::string> network_view;  // networks it asked for, sorted; empty: all
  bool no_tunnel = false;                 // does not send HBONE
  bool labelled = false;                  // has labels; `labels` are those that failover priorities name
  LabelMap labels;
  model::Locality locality;  // for locality load balancing
  // For the proxy's own service (zone-aware load balancing), which has endpoints of the same workload alone.
  Interned workload_name, pod_template_hash, rollout_template_hash;

  friend bool operator==(const EndpointClient&, const EndpointClient&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const EndpointClient& c) {
    return H::combine(std::move(h), c.cluster, c.network, c.locality, c.node_name, c.labels.size());
  }
};

// The workload's mark of Istio's mutual TLS.
inline constexpr std::string_view kTlsModeIstio = "istio";

// The PeerAuthentication policies of the mesh and of the namespaces where endpoints live that can speak
// mutual TLS.
struct PeerPolicies {
  mesh::NamespacePeerAuthenticationPtr mesh;  // null: none
  std::vector<std::pair<Interned, mesh::NamespacePeerAuthenticationPtr>>
      namespaces;  // sorted by name, those with policies

  // Null where the namespace has none.
  const mesh::NamespacePeerAuthenticationPtr& Of(const Interned& ns) const;
  friend bool operator==(const PeerPolicies&, const PeerPolicies&) = default;
};

// Everything that one ClusterLoadAssignment, or the inline endpoints of a DNS cluster, is made from.
struct EndpointInputs {
  std::string cluster_name;
  model::ServicePtr service;  // null: no such service, an empty assignment
  uint32_t port = 0;
  std::string subset;
  bool dns_srv = false;           // of a gateway that passes mutual TLS through: mTLS endpoints only
  bool udp = false;               // a port of UDP: no tunnels, no TLS, no gateways of other networks
  bool self_discovery = false;    // the proxy's own service
  bool inline_endpoints = false;  // of a DNS cluster: host names stay, ports match by number
  model::ServiceEndpointsPtr endpoints;
  mesh::DestinationRulePtr rule;
  model::SettingsPtr settings;
  PeerPolicies peer_policies;
  std::shared_ptr<const mesh::NetworkIndex> networks;  // null where there is but one network
  bool cluster_local = false;
  EndpointClient client;

  // The service's port; null where it has none such. REQUIRES: there is a service.
  const model::ServicePort* FindPort() const {
    return udp ? service->FindUdpPort(port) : service->FindTcpPort(port);
  }
  friend bool operator==(const EndpointInputs&, const EndpointInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const EndpointInputs& i) {
    return H::combine(std::move(h), i.cluster_name, i.service.get(), i.endpoints.get(), i.rule.get(),
                      i.settings.get(), i.client);
  }
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_INPUTS_H_
