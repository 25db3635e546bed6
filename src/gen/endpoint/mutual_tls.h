#ifndef FAIRLEAD_GEN_ENDPOINT_MUTUAL_TLS_H_
#define FAIRLEAD_GEN_ENDPOINT_MUTUAL_TLS_H_

#include "absl/container/flat_hash_map.h"
#include "gen/endpoint/inputs.h"
#include "gen/policy/traffic_policy.h"
#include "mesh/index/peer_authentication.h"
#include "mesh/view/view.h"

namespace fairlead::gen {

// The policies that endpoints of these inputs depend on: none where the rule decides.
// REQUIRES: service, port, subset, rule and endpoints are collected.
PeerPolicies CollectPeerPolicies(mesh::View& view, const EndpointInputs& inputs);

// Decides for each endpoint whether the client uses mutual TLS. The rule's mode wins if it has one. Otherwise
// the workload must be able to, and its PeerAuthentication must not forbid it.
class MutualTls {
 public:
  explicit MutualTls(const EndpointInputs& inputs);
  bool Enabled(const model::Endpoint& endpoint);

 private:
  const PeerPolicies& policies_;
  const api::ClientTLSSettings* tls_;  // of the rule; null: it says nothing
  absl::flat_hash_map<const model::Workload*, mesh::PeerAuthentication> workloads_;
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_MUTUAL_TLS_H_
