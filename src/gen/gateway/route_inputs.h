#ifndef FAIRLEAD_GEN_GATEWAY_ROUTE_INPUTS_H_
#define FAIRLEAD_GEN_GATEWAY_ROUTE_INPUTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "gen/route/hash_rules.h"
#include "mesh/index/merged_gateway.h"
#include "mesh/index/routing_objects.h"
#include "model/settings.h"

// Everything that a router's route configurations are made from.
namespace fairlead::gen::gateway {

// The resolved destination of a VirtualService, if its route names no port or the service is an alias.
struct DestinationService {
  std::string host;
  uint32_t only_port = 0;  // of a service with one port
  Interned external_name;  // that an alias stands for
  std::string session;     // how its clients name an endpoint: see route::SessionOf
  friend bool operator==(const DestinationService&, const DestinationService&) = default;
};

// The routes of one VirtualService at one Gateway.
struct VirtualServiceInputs {
  mesh::VirtualServicePtr virtual_service;
  Interned gateway;   // "namespace/name"
  uint32_t port = 0;  // of the server
  bool tls = false, http3 = false;
  std::vector<DestinationService> services;  // of destinations, sorted by host; those that matter
  route::HashRules hash_rules;
  Interned metadata_ns;    // of the router, which sourceNamespace is compared with
  LabelMap client_labels;  // empty unless a match asks for sourceLabels
  bool append_x_forwarded_host = false;
  model::SettingsPtr settings;

  friend bool operator==(const VirtualServiceInputs&, const VirtualServiceInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const VirtualServiceInputs& i) {
    return H::combine(std::move(h), i.virtual_service, i.gateway, i.port, i.tls, i.http3, i.metadata_ns,
                      i.services.size(), i.settings);
  }
};

struct EncodedRoute {
  std::string bytes;
  bool catch_all = false;  // takes every request
};
// Never null. One object for one VirtualService at one Gateway and port.
using EncodedRoutesPtr = std::shared_ptr<const std::vector<EncodedRoute>>;

// Hosts of a server that a VirtualService has routes for.
struct HostBinding {
  size_t server = 0;               // in `route->servers`
  std::vector<std::string> hosts;  // in lower case
  EncodedRoutesPtr routes;
  mesh::VirtualServicePtr virtual_service;      // that they are of
  std::map<std::string, std::string> sessions;  // of those hosts that are destinations: see route::SessionOf
  friend bool operator==(const HostBinding&, const HostBinding&) = default;
};

struct GatewayRouteInputs {
  std::string name;
  mesh::GatewayRoutePtr route;
  std::vector<HostBinding> bindings;  // server by server, in the order in which they count
  bool include_attempt_count = true;
  bool merge_hosts = true;  // of the features
  // The port for matches of EnvoyFilters: see patch::GatewayPorts. Empty where there are none.
  std::vector<uint32_t> matched_ports;

  friend bool operator==(const GatewayRouteInputs& a, const GatewayRouteInputs& b) {
    return a.name == b.name && a.include_attempt_count == b.include_attempt_count &&
           a.merge_hosts == b.merge_hosts && a.matched_ports == b.matched_ports && a.bindings == b.bindings &&
           *a.route == *b.route;
  }
  template <typename H>
  friend H AbslHashValue(H h, const GatewayRouteInputs& i) {
    h = H::combine(std::move(h), i.name, i.include_attempt_count);
    for (const HostBinding& binding : i.bindings) h = H::combine(std::move(h), binding.routes.get());
    return h;
  }
};

}  // namespace fairlead::gen::gateway

#endif  // FAIRLEAD_GEN_GATEWAY_ROUTE_INPUTS_H_
