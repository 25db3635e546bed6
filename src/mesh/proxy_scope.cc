#include "mesh/proxy_scope.h"

#include <algorithm>
#include <string>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "mesh/service_targets.h"
#include "model/workload_labels.h"

namespace fairlead::mesh {
namespace {

// The labels that the registries have for the proxy's workload: of its pod, else of the first ServiceEntry
// endpoint at its address.
bool FindRegistryLabels(const MeshSnapshot& snapshot, const model::Proxy& proxy, LabelMap* labels) {
  if (!InOwnCluster(snapshot, proxy)) return false;
  if (const model::WorkloadInstance* pod = FindPodOf(snapshot, proxy)) {
    *labels =
        model::WithTopologyLabels(pod->sources.front()->meta().labels, pod->workload->cluster,
                                  pod->workload->locality, proxy.metadata.node_name, pod->workload->network);
    return true;
  }
  const std::vector<model::ExternalTarget> external = FindExternalTargets(snapshot, proxy);
  if (external.empty()) return false;
  *labels = external.front().workload->labels;
  return true;
}

LabelMap FindLabels(const MeshSnapshot& snapshot, const model::Proxy& proxy) {
  LabelMap labels;
  if (proxy.metadata.labels.contains(kTestVmLabel) || !FindRegistryLabels(snapshot, proxy, &labels)) {
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

bool TargetsStay(const MeshSnapshot& snapshot, const model::ProxyPtr& proxy, const ProxyScopePtr& previous) {
  return previous != nullptr && previous->proxy == proxy &&
         previous->targets_revision == snapshot.targets_revision &&
         (previous->endpoints == nullptr || previous->endpoints == snapshot.endpoints);
}

void FindTargets(const MeshSnapshot& snapshot, ProxyScope* scope) {
  const model::Proxy& proxy = *scope->proxy;
  LabelMap labels = FindLabels(snapshot, proxy);
  scope->locality = FindLocality(proxy, labels);
  scope->labels = model::WithTopologyLabels(std::move(labels), proxy.metadata.cluster_id, scope->locality,
                                            proxy.metadata.node_name, proxy.metadata.network);
  FoundTargets found = FindServiceTargets(snapshot, proxy, scope->labels);
  scope->targets = std::move(found.targets);
  scope->endpoints = found.by_endpoints ? snapshot.endpoints : nullptr;
  scope->targets_revision = snapshot.targets_revision;
}

DestinationRulePtr RuleOf(const ProxyScope& scope, const ServiceTarget& target) {
  return scope.sidecar->FindDestinationRule(target.service->hostname, target.service->ns, scope.labels,
                                            /*outbound=*/false);
}

// See ProxyScope::own_id.
bool SameOwn(const ProxyScope& a, const ProxyScope& b) {
  const auto same_rule = [&](const ServiceTarget& target) { return RuleOf(a, target) == RuleOf(b, target); };
  return a.proxy == b.proxy && a.labels == b.labels && a.locality == b.locality && a.targets == b.targets &&
         a.peer_authentication == b.peer_authentication && a.gateway == b.gateway &&
         a.proxy_config == b.proxy_config && a.sidecar->object == b.sidecar->object &&
         a.sidecar->outbound_traffic_policy == b.sidecar->outbound_traffic_policy &&
         (a.sidecar == b.sidecar || std::all_of(a.targets.begin(), a.targets.end(), same_rule));
}

}  // namespace

ProxyScopePtr ComputeProxyScope(const MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                                const ProxyScopePtr& previous) {
  const bool targets_stay = TargetsStay(snapshot, proxy, previous);
  if (targets_stay && previous->scopes_revision == snapshot.scopes_revision) return previous;
  auto scope = targets_stay ? std::make_shared<ProxyScope>(*previous) : std::make_shared<ProxyScope>();
  scope->proxy = proxy;
  if (!targets_stay) FindTargets(snapshot, scope.get());
  scope->sidecar = proxy->type == model::ProxyType::kSidecar ? snapshot.ScopeFor(proxy->ns, scope->labels)
                                                             : snapshot.DefaultScopeFor(proxy->ns);
  scope->peer_authentication = snapshot.peer_authentications->ForWorkload(proxy->ns, scope->labels);
  scope->proxy_config = proxy->metadata.proxy_config;
  if (scope->proxy_config == nullptr) {
    scope->proxy_config = {snapshot.settings->mesh, &snapshot.settings->mesh->default_config()};
  }
  if (proxy->type == model::ProxyType::kRouter) {
    scope->gateway = snapshot.gateways->Get(
        AttachGateways(snapshot.objects->Of(config::Kind::kGateway), scope->labels, scope->targets));
  }
  scope->scopes_revision = snapshot.scopes_revision;
  scope->own_id = previous != nullptr && SameOwn(*previous, *scope) ? previous->own_id : NextUniqueId();
  return scope;
}

}  // namespace fairlead::mesh
