#ifndef FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_
#define FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "mesh/proxy_scope.h"
#include "mesh/snapshot.h"

namespace fairlead::gen {

// What clients have in common that see the same services in the same way, in one snapshot: most of a
// namespace. What is collected for one of them holds for all, unless it read more of the client
// (EndpointInputs::per_client, SidecarScope::RuleDependsOnLabels). A key of memos: compared by content, owns
// what it points to.
struct ClientClass {
  ClientClass(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope);

  mesh::SidecarScopePtr sidecar;
  model::SettingsPtr settings;
  std::shared_ptr<const mesh::ServiceIndex> services;
  std::shared_ptr<const mesh::EndpointIndex> endpoints;
  std::shared_ptr<const mesh::NetworkIndex> networks;
  std::shared_ptr<const mesh::PeerAuthenticationIndex> peer_authentications;
  model::ProxyType type;
  Interned cluster, network;
  std::vector<std::string> network_view;
  bool ipv4, ipv6, no_tunnel;

  friend bool operator==(const ClientClass&, const ClientClass&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ClientClass& c) {
    return H::combine(std::move(h), c.sidecar.get(), c.endpoints.get(), c.settings.get(), c.type, c.cluster,
                      c.network);
  }
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_CLIENT_CLASS_H_
