#ifndef FAIRLEAD_GEN_CLUSTER_INPUTS_H_
#define FAIRLEAD_GEN_CLUSTER_INPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "gen/endpoint/inputs.h"
#include "mesh/index/routing_objects.h"
#include "model/proxy.h"
#include "model/service.h"
#include "model/settings.h"

// Everything that clusters are made from: plain values, compared by content; what they point to they own.
namespace fairlead::gen {

// The attributes of a client that any cluster may depend on; a few values in a whole mesh.
struct ClusterTraits {
  model::ProxyType type = model::ProxyType::kSidecar;
  bool ipv4 = true, ipv6 = false;
  bool preserve_header_case = false;  // ProxyConfig.proxyHeaders.preserveHttp1HeaderCase
  bool metadata_exchange = true;      // has Istio's TCP metadata exchange filter
  bool credential_socket =
      false;  // node metadata "credential": an SDS server of its own for credential names
  bool file_credential_socket = false;                   // "file-credential": likewise for files
  Interned client_certificate, client_key, client_root;  // node metadata TLS_CLIENT_*

  friend bool operator==(const ClusterTraits&, const ClusterTraits&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClusterTraits& t) {
    return H::combine(std::move(h), t.type, t.ipv4, t.ipv6, t.preserve_header_case, t.metadata_exchange,
                      t.credential_socket, t.file_credential_socket, t.client_certificate, t.client_key,
                      t.client_root);
  }
};

// A port of a service, or of a subset of it, as a client reaches it.
struct OutboundClusterInputs {
  model::ServicePtr service;
  uint32_t port = 0;
  std::string subset;             // "" for the whole service
  bool dns_srv = false;           // for a gateway that passes mutual TLS through
  bool udp = false;               // a port of UDP, for datagrams of a router
  mesh::DestinationRulePtr rule;  // null: none
  model::SettingsPtr settings;
  ClusterTraits traits;
  std::vector<std::string> identities;  // whom mutual TLS expects there: SPIFFE ids and names, sorted
  bool auto_mutual_tls = false;         // whether mutual TLS may be assumed where no rule says
  bool all_tunnel = false;              // every endpoint takes HBONE
  std::shared_ptr<const EndpointInputs> endpoints;  // of a cluster that resolves names; null for all others

  friend bool operator==(const OutboundClusterInputs& a, const OutboundClusterInputs& b) {
    return a.service == b.service && a.port == b.port && a.subset == b.subset && a.dns_srv == b.dns_srv &&
           a.udp == b.udp && a.rule == b.rule && a.settings == b.settings && a.traits == b.traits &&
           a.identities == b.identities && a.auto_mutual_tls == b.auto_mutual_tls &&
           a.all_tunnel == b.all_tunnel &&
           (a.endpoints == b.endpoints || (a.endpoints && b.endpoints && *a.endpoints == *b.endpoints));
  }
  template <typename H>
  friend H AbslHashValue(H h, const OutboundClusterInputs& i) {
    return H::combine(std::move(h), i.service.get(), i.port, i.subset, i.dns_srv, i.udp, i.rule.get(),
                      i.settings.get(), i.traits, i.identities.size(), i.auto_mutual_tls);
  }
};

// A service's port that leads to an inbound cluster.
struct InboundTarget {
  model::ServicePtr service;
  const model::ServicePort* port = nullptr;  // of `service`; null for an ingress listener, which has its own
  friend bool operator==(const InboundTarget&, const InboundTarget&) = default;
};

// A port of the workload itself, or an ingress listener of its Sidecar.
struct InboundClusterInputs {
  uint32_t cluster_port = 0;
  std::string bind;  // where the application listens; "" for the original destination
  uint32_t bind_port = 0;
  std::vector<InboundTarget> targets;  // the first decides, all are named in the metadata
  // For an ingress listener without a service: the Sidecar takes the place of the service.
  Interned sidecar_name, sidecar_namespace;
  std::string listener_protocol;  // of an ingress listener: its own port counts, not a service's
  std::string listener_port_name;
  bool ingress_listener = false;
  mesh::DestinationRulePtr rule;
  config::ConfigPtr sidecar;  // for its connection pools; null: none
  model::SettingsPtr settings;
  ClusterTraits traits;

  friend bool operator==(const InboundClusterInputs&, const InboundClusterInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const InboundClusterInputs& i) {
    return H::combine(std::move(h), i.cluster_port, i.bind, i.bind_port, i.rule.get(), i.sidecar.get(),
                      i.settings.get(), i.traits, i.targets.size());
  }
};

// The clusters that are not for a service.
struct FixedInputs {
  enum class Kind : uint8_t {
    kBlackHole,
    kPassthrough,
    kInboundPassthrough,
    kAllowAnyDynamicDns,
    kExternalSecrets
  };
  Kind kind = Kind::kBlackHole;
  model::SettingsPtr settings;
  ClusterTraits traits;
  // The dynamic forward proxy's address: the agent's DNS proxy, "" without DNS capture, and the families of
  // INSTANCE_IPS.
  std::string dns_proxy_address;
  bool instance_ipv4 = false, instance_ipv6 = false;

  friend bool operator==(const FixedInputs&, const FixedInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const FixedInputs& i) {
    return H::combine(std::move(h), i.kind, i.settings.get(), i.traits, i.dns_proxy_address);
  }
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_INPUTS_H_
