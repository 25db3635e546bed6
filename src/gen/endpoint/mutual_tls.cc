#include "gen/endpoint/mutual_tls.h"

#include <set>
#include <utility>

#include "gen/endpoint/build.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::gen {
namespace {

// Istio's TLS mode that the rule sets for the port, looked up on its own: a port's settings without TLS do
// not hide the mode of the whole policy here. Null: none is set.
const api::ClientTLSSettings* TlsSettings(const api::TrafficPolicy* policy, uint32_t port) {
  if (policy == nullptr) return nullptr;
  for (const auto& settings : policy->port_level_settings()) {
    if (settings.port().number() == port && settings.has_tls()) return &settings.tls();
  }
  return policy->has_tls() ? &policy->tls() : nullptr;
}

const api::ClientTLSSettings* TlsSettings(const EndpointInputs& inputs) {
  const api::DestinationRule* rule = SpecOf(inputs.rule);
  if (inputs.subset.empty()) return TlsSettings(PolicyOf(rule), inputs.port);
  const api::Subset* subset = FindSubset(rule, inputs.subset);
  if (subset == nullptr) return nullptr;
  if (const auto* own = TlsSettings(PolicyOf(subset), inputs.port)) return own;
  return TlsSettings(PolicyOf(rule), inputs.port);
}

}  // namespace

PeerPolicies CollectPeerPolicies(mesh::View& view, const EndpointInputs& inputs) {
  PeerPolicies policies;
  if (inputs.endpoints == nullptr || TlsSettings(inputs) != nullptr) return policies;
  std::set<Interned> namespaces;
  for (const model::EndpointShard& shard : inputs.endpoints->shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      if (endpoint.workload->tls_mode == kTlsModeIstio) namespaces.insert(endpoint.workload->ns);
    }
  }
  if (namespaces.empty()) return policies;
  policies.mesh = view.mesh_peer_authentication();
  for (const Interned& ns : namespaces) {
    if (auto part = view.peer_authentication(ns)) policies.namespaces.emplace_back(ns, std::move(part));
  }
  return policies;
}

const mesh::NamespacePeerAuthenticationPtr& PeerPolicies::Of(const Interned& ns) const {
  static const auto* none = new mesh::NamespacePeerAuthenticationPtr();
  for (const auto& [name, part] : namespaces) {
    if (name == ns) return part;
  }
  return *none;
}

MutualTls::MutualTls(const EndpointInputs& inputs)
    : policies_(inputs.peer_policies), tls_(TlsSettings(inputs)) {}

bool MutualTls::Enabled(const model::Endpoint& endpoint) {
  if (tls_ != nullptr) return tls_->mode() == api::ClientTLSSettings::ISTIO_MUTUAL;
  const model::Workload& workload = *endpoint.workload;
  if (workload.tls_mode != kTlsModeIstio) return false;
  auto [it, inserted] = workloads_.try_emplace(&workload);
  if (inserted) it->second = mesh::ForWorkload(policies_.mesh, policies_.Of(workload.ns), workload.labels);
  return it->second.ForPort(endpoint.port) != mesh::MutualTlsMode::kDisable;
}

}  // namespace fairlead::gen
