#ifndef FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_
#define FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "mesh/proxy_scope.h"

namespace fairlead::gen {

// What of a client its endpoints and clusters depend on besides what it sees: few in a mesh. A key of memos.
struct ClientKind {
  explicit ClientKind(const model::Proxy& proxy);

  model::ProxyType type;
  Interned cluster, network;
  std::vector<std::string> network_view;
  bool ipv4, ipv6, no_tunnel;

  friend bool operator==(const ClientKind&, const ClientKind&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClientKind& c) {
    return H::combine(std::move(h), c.type, c.cluster, c.network);
  }
};

// What clients have in common that see the same services in the same way: most of a namespace. What is
// collected for one of them from one snapshot holds for all, unless it read more of the client
// (EndpointInputs::client_reads, SidecarScope::RuleDependsOnLabels). A key of memos.
struct ClientClass {
  explicit ClientClass(const mesh::ProxyScope& scope);

  uint64_t imports_id;            // SidecarScope::imports_id, or
  mesh::SidecarScopePtr sidecar;  // where it has none, the scope itself; else null
  ClientKind kind;

  friend bool operator==(const ClientClass&, const ClientClass&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClientClass& c) {
    return H::combine(std::move(h), c.imports_id, c.sidecar.get(), c.kind);
  }
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_
