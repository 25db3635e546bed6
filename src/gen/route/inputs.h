#ifndef FAIRLEAD_GEN_ROUTE_INPUTS_H_
#define FAIRLEAD_GEN_ROUTE_INPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "gen/resource/origins.h"
#include "gen/route/catch_all.h"
#include "gen/route/hash_rules.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"
#include "model/service_addresses.h"
#include "model/settings.h"

namespace fairlead::gen::route {

// The attributes of a sidecar that its outbound routes depend on. They are equal for all workloads of a
// namespace, except for special requests.
struct ClientTraits {
  Interned ns;           // where it is configured
  Interned metadata_ns;  // as its metadata says, which is what sourceNamespace is compared with
  Interned dns_domain;   // "default.svc.cluster.local": which short names it may use
  model::AddressView addresses;
  bool include_attempt_count = true;
  bool append_x_forwarded_host = false;
  bool proxyless = false;  // a gRPC library: domains have ports, timeouts are of streams

  friend bool operator==(const ClientTraits&, const ClientTraits&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClientTraits& t) {
    return H::combine(std::move(h), t.ns, t.metadata_ns, t.dns_domain, t.addresses, t.include_attempt_count,
                      t.append_x_forwarded_host, t.proxyless);
  }
};

// Everything that the virtual hosts of one port are made from. Pointers own and stay equal while their
// objects do.
struct HostInputs {
  uint32_t port = 0;                        // of the listener; 0: hosts of all ports, for proxy clients
  std::vector<model::ServicePtr> services;  // on the port, by the name they are looked up by
  std::vector<mesh::VirtualServicePtr> virtual_services;  // oldest first
  // Rules with consistent hashing of the services and destinations, by their host; sorted.
  HashRules hash_rules;
  ClientTraits client;
  LabelMap client_labels;  // empty unless a match asks for sourceLabels
  model::SettingsPtr settings;

  friend bool operator==(const HostInputs&, const HostInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const HostInputs& i) {
    for (const auto& [name, value] : i.client_labels) h = H::combine(std::move(h), name, value);
    return H::combine(std::move(h), i.port, i.services, i.virtual_services, i.hash_rules, i.client,
                      i.client_labels.size(), i.settings);
  }
};
using HostInputsPtr = std::shared_ptr<const HostInputs>;
// Its VirtualServices and DestinationRules. Services are not named: most configurations have them all.
void AddOrigins(const HostInputs& inputs, OriginList* out);

// Everything that one route configuration is made from.
struct Inputs {
  std::string name;     // as asked for
  HostInputsPtr hosts;  // null where no egress listener is there for the name: no hosts then
  CatchAll catch_all;   // not used by sniffed names

  friend bool operator==(const Inputs& a, const Inputs& b) {
    const bool same_hosts = a.hosts == b.hosts || (a.hosts && b.hosts && *a.hosts == *b.hosts);
    return same_hosts && a.name == b.name && a.catch_all == b.catch_all;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Inputs& i) {
    h = H::combine(std::move(h), i.name, static_cast<int>(i.catch_all.mode), i.catch_all.cluster);
    return i.hosts == nullptr ? H::combine(std::move(h), 0) : H::combine(std::move(h), *i.hosts);
  }
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_INPUTS_H_
