#ifndef FAIRLEAD_GEN_GRPC_INPUTS_H_
#define FAIRLEAD_GEN_GRPC_INPUTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"

// Everything that the resources of gRPC clients and servers are made from: plain values, compared by content.
namespace fairlead::gen::grpc {

// The listener of a client: a host and port that it calls.
struct ClientListenerInputs {
  std::string name;  // "reviews:80", with the host as it was asked for
  std::string host;  // the service's
  uint32_t port = 0;
  std::vector<std::string> addresses;  // of the service, never empty
  std::string session;                 // how its clients name an endpoint: see route::SessionOf

  friend bool operator==(const ClientListenerInputs&, const ClientListenerInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClientListenerInputs& i) {
    return H::combine(std::move(h), i.name, i.host, i.port, i.addresses);
  }
};

// The AuthorizationPolicies that hold for a server, mesh-wide ones first.
struct ServerPolicies {
  std::vector<config::ConfigPtr> deny, allow;

  friend bool operator==(const ServerPolicies&, const ServerPolicies&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ServerPolicies& a) {
    return H::combine(std::move(h), a.deny, a.allow);
  }
};

// The listener of a server: an address that it accepts calls at.
struct ServerListenerInputs {
  std::string name;
  std::string address;  // as the name says it
  uint32_t port = 0;
  std::vector<std::string> more_addresses;  // of the service, beside its first
  bool mutual_tls = false;                  // required; else plain text
  ServerPolicies authorization;

  friend bool operator==(const ServerListenerInputs&, const ServerListenerInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ServerListenerInputs& i) {
    return H::combine(std::move(h), i.name, i.address, i.port, i.more_addresses, i.mutual_tls,
                      i.authorization);
  }
};

// A port of a service, or of a subset of it.
struct ClusterInputs {
  std::string name;
  model::ServicePtr service;
  uint32_t port = 0;
  std::string subset;                   // "" for the whole service
  mesh::DestinationRulePtr rule;        // null: none
  std::vector<std::string> identities;  // whom mutual TLS expects; empty where the rule does not ask for it
  bool keeps_sessions = false;          // of clients, past an endpoint's removal

  friend bool operator==(const ClusterInputs&, const ClusterInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClusterInputs& i) {
    return H::combine(std::move(h), i.name, i.service.get(), i.port, i.subset, i.rule.get(), i.identities);
  }
};

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_INPUTS_H_
