#include "mesh/view/view.h"

#include <atomic>

#include "base/log.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::mesh {

using model::SettingsPart;

namespace {

LogScope mesh_log("mesh");

std::atomic<uint64_t> mismatches{0};

}  // namespace

void ReportMismatch(std::string_view what) {
  ++mismatches;
  mesh_log.Error(
      "what was made before is not what would be made now, though what it was made from is the same: {}",
      what);
}

uint64_t MismatchCount() { return mismatches.load(); }

NamespacePeerAuthenticationPtr View::mesh_peer_authentication() {
  return peer_authentication(settings(SettingsPart::kIndexes)->root_namespace);
}

VirtualServiceIndex::List View::VirtualServicesFor(const Interned& gateway) {
  const Interned ns = client_namespace();
  return VirtualServiceIndex::InOrder(ns, Peek<questions::GatewayRoutesOwn>(gateway, ns),
                                      Peek<questions::GatewayRoutesExported>(gateway, ns),
                                      Peek<questions::GatewayRoutesForAll>(gateway));
}

const istio::networking::v1alpha3::OutboundTrafficPolicy& View::outbound_policy() {
  return OrEmpty(Peek<questions::OutboundPolicy>());
}

std::vector<config::ConfigPtr> View::Policies(config::Kind kind) {
  const std::string& ns = client_namespace();
  const model::SettingsPtr settings_of_indexes = settings(SettingsPart::kIndexes);
  const std::string& root = settings_of_indexes->root_namespace;
  const bool selectors = settings_of_indexes->features.selectors_of_gateways;
  PolicyParts parts;
  parts.root = PoliciesIn(kind, root);
  parts.in_root = ns == root;
  if (!parts.in_root) parts.own = PoliciesIn(kind, ns);
  LabelMap labels;
  for (const std::string& key : PolicyLabelKeys(kind, parts, /*waypoint=*/false, selectors)) {
    if (const auto value = FindLabel(key)) labels.emplace(key, *value);
  }
  return SelectPolicies(kind, parts, {.ns = ns, .labels = labels, .selectors_of_gateways = selectors});
}

std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> View::proxy_config() {
  if (!proxy_class().has_proxy_config) {
    const model::MeshConfigPtr& mesh = settings(SettingsPart::kProxyConfig)->mesh;
    return {mesh, &mesh->default_config()};
  }
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  config->ParseFromString(proxy_class().proxy_config.str());
  return config;
}

}  // namespace fairlead::mesh
