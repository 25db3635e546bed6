#include "mesh/view/proxy_scope.h"

#include <string>
#include <utility>

#include "mesh/view/gateway_scopes.h"
#include "mesh/view/service_targets.h"
#include "mesh/view/sidecar_scopes.h"
#include "mesh/view/view.h"
#include "model/workload_labels.h"

namespace fairlead::mesh {
namespace {

// The labels that the registries of its cluster have for the proxy's workload: of its pod, else of the first
// ServiceEntry endpoint at its address.
bool FindRegistryLabels(View& view, const model::Proxy& proxy, LabelMap* labels) {
  if (const model::WorkloadInstance* pod = FindPodOf(view, proxy)) {
    *labels =
        model::WithTopologyLabels(pod->sources.front()->meta().labels, pod->workload->cluster,
                                  pod->workload->locality, proxy.metadata.node_name, pod->workload->network);
    return true;
  }
  if (!ClusterOf(view, proxy).empty()) return false;
  const std::vector<model::ExternalTarget> external = FindExternalTargets(view, proxy);
  if (external.empty()) return false;
  *labels = external.front().workload->labels;
  return true;
}

LabelMap FindLabels(View& view, const model::Proxy& proxy) {
  LabelMap labels;
  if (proxy.metadata.labels.contains(kTestVmLabel) || !FindRegistryLabels(view, proxy, &labels)) {
    return proxy.metadata.labels;
  }
  labels.insert(proxy.metadata.static_labels.begin(),
                proxy.metadata.static_labels.end());  // never over what is there
  return labels;
}

// From the labels, which know best: the registries put what they know of nodes there; else what the node
// says.
model::Locality FindLocality(const model::Proxy& proxy, const LabelMap& labels) {
  using model::kRegionLabel, model::kSubzoneLabel, model::kZoneLabel;
  if (labels.contains(kRegionLabel) || labels.contains(kZoneLabel) || labels.contains(kSubzoneLabel)) {
    return {LabelOr(labels, kRegionLabel), LabelOr(labels, kZoneLabel), LabelOr(labels, kSubzoneLabel)};
  }
  std::string_view own = LabelOr(labels, "topology.istio.io/locality");
  if (own.empty()) own = LabelOr(labels, "istio-locality");
  return own.empty() ? proxy.node_locality : model::Locality::Parse(own);
}

// The Sidecar object that a proxy's workload goes by; null: none. Routers have none.
config::ConfigPtr FindSidecar(View& view, const ProxyScope& scope) {
  if (scope.proxy->type != model::ProxyType::kSidecar) return nullptr;
  const std::string &ns = scope.proxy->ns,
                    &root = view.settings(model::SettingsPart::kIndexes)->root_namespace;
  PolicyParts parts;
  parts.root = view.PoliciesIn(config::Kind::kSidecar, root);
  parts.in_root = ns == root;
  if (!parts.in_root) parts.own = view.PoliciesIn(config::Kind::kSidecar, ns);
  const auto chosen = SelectPolicies(config::Kind::kSidecar, parts, {ns, scope.labels});
  return chosen.empty() ? nullptr : chosen.front();
}

bool SameOwn(const ProxyScope& a, const ProxyScope& b) {
  return a.labels == b.labels && a.locality == b.locality && a.sidecar_key == b.sidecar_key &&
         *a.targets == *b.targets && *a.peer_authentication == *b.peer_authentication;
}

// An equal value that is there already.
template <typename Value>
std::shared_ptr<const Value> Kept(Value value, const std::shared_ptr<const Value>& before) {
  if (before != nullptr && value == *before) return before;
  return std::make_shared<const Value>(std::move(value));
}

// All but what the proxy sees.
std::shared_ptr<ProxyScope> FindOwn(View& view, const model::ProxyPtr& proxy, const ProxyScope* before) {
  auto scope = std::make_shared<ProxyScope>();
  scope->proxy = proxy;
  LabelMap labels = FindLabels(view, *proxy);
  scope->locality = FindLocality(*proxy, labels);
  scope->labels = model::WithTopologyLabels(std::move(labels), proxy->metadata.cluster_id, scope->locality,
                                            proxy->metadata.node_name, proxy->metadata.network);
  scope->targets = Kept(FindServiceTargets(view, *proxy, scope->labels), before ? before->targets : nullptr);
  scope->peer_authentication =
      Kept(ForWorkload(view.mesh_peer_authentication(), view.peer_authentication(proxy->ns), scope->labels),
           before ? before->peer_authentication : nullptr);
  return scope;
}

Interned SidecarKeyOf(const model::Proxy& proxy, const config::ConfigPtr& sidecar) {
  if (sidecar == nullptr) return proxy.ns;
  return StrCat(proxy.ns, "/", sidecar->ns().str(), "/", sidecar->name().str());
}

// But for what is the proxy's own.
bool ViewHolds(const MeshSnapshot& snapshot, const ProxyScope& scope) {
  return scope.sidecar_reads->Hold({snapshot}) &&
         (scope.gateway_reads == nullptr || scope.gateway_reads->Hold({snapshot, &scope}));
}

// REQUIRES: all else of the scope is there.
void FindGateways(const MeshSnapshot& snapshot, bool shadow, ProxyScope* scope) {
  GatewayScopes::Result found = snapshot.gateway_scopes->Get({snapshot, scope, shadow});
  scope->gateways = std::move(found.value);
  scope->gateway_reads = std::move(found.reads);
}

}  // namespace

bool ScopeHolds(const MeshSnapshot& snapshot, const ProxyScope& scope) {
  return scope.own_reads != nullptr && scope.own_reads->Hold({snapshot}) && ViewHolds(snapshot, scope);
}

ProxyScopePtr ComputeProxyScope(const MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                                const ProxyScopePtr& previous, bool shadow) {
  const World world{snapshot, nullptr, shadow};
  const bool own_holds = previous != nullptr && previous->proxy == proxy && previous->own_reads != nullptr &&
                         previous->own_reads->Hold(world);
  if (own_holds && !shadow && ViewHolds(snapshot, *previous)) return previous;
  View view(world);
  std::shared_ptr<ProxyScope> scope =
      own_holds && !shadow ? std::make_shared<ProxyScope>(*previous) : FindOwn(view, proxy, previous.get());
  const config::ConfigPtr sidecar =
      own_holds && !shadow ? previous->sidecar->imports->object : FindSidecar(view, *scope);
  const bool router = proxy->type != model::ProxyType::kSidecar;
  SidecarScopes::Result found = snapshot.scopes->Get(world, sidecar, proxy->ns, router);
  scope->sidecar = std::move(found.value);
  scope->sidecar_reads = std::move(found.reads);
  if (proxy->type == model::ProxyType::kRouter) FindGateways(snapshot, shadow, scope.get());
  if (own_holds && !shadow) return scope;
  scope->sidecar_key = SidecarKeyOf(*proxy, sidecar);
  scope->own_reads = view.Take();
  if (own_holds && !SameOwn(*scope, *previous)) ReportMismatch(StrCat("the scope of ", proxy->id));
  return scope;
}

}  // namespace fairlead::mesh
