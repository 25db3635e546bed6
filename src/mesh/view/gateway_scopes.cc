#include "mesh/view/gateway_scopes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/labels.h"
#include "base/strings.h"
#include "config/derived_object.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/view/view.h"

namespace fairlead::mesh {
namespace {

using istio::networking::v1alpha3::Gateway;

// Those of the services that a Gateway names.
std::vector<GatewayTarget> TargetsNamed(const config::ConfigObject& gateway, std::string_view services,
                                        const std::vector<GatewayTarget>& targets) {
  const std::vector<std::string_view> named = Split(services, ',');
  std::string_view ns = LabelOr(gateway.meta().annotations, config::kParentNamespaceAnnotation);
  if (ns.empty()) ns = gateway.ns();
  std::vector<GatewayTarget> found;
  for (const GatewayTarget& target : targets) {
    if (target.ns == ns && std::find(named.begin(), named.end(), target.hostname.str()) != named.end())
      found.push_back(target);
  }
  return found;
}

bool IsManaged(const config::ConfigObject& gateway) {
  return LabelOr(gateway.meta().annotations, config::kGatewaySemanticsAnnotation) ==
             config::kGatewaySemantics &&
         !LabelOr(gateway.meta().annotations, config::kServiceAccountAnnotation).empty();
}

// Where a router was made for a Gateway API Gateway, no Gateway of another namespace may add to it.
void DropForeign(std::vector<SelectedGateway>* gateways) {
  absl::flat_hash_set<Interned> managed;
  for (const SelectedGateway& gateway : *gateways) {
    if (IsManaged(*gateway.object)) managed.insert(gateway.object->ns());
  }
  if (managed.empty()) return;
  std::erase_if(*gateways, [&](const SelectedGateway& gateway) {
    return LabelOr(gateway.object->meta().annotations, config::kGatewaySemanticsAnnotation) !=
               config::kGatewaySemantics &&
           !managed.contains(gateway.object->ns());
  });
}

std::vector<SelectedGateway> SelectGateways(View& view, const model::GatewayFeatures& features) {
  const std::vector<GatewayTarget>& targets = view.target_ports();
  std::vector<SelectedGateway> selected;
  for (const config::ConfigPtr& object : features.own_namespace_only
                                             ? view.Objects(config::Kind::kGateway, view.client_namespace())
                                             : view.AllObjects(config::Kind::kGateway)) {
    const auto& annotations = object->meta().annotations;
    if (annotations.contains(config::kGatewayServiceAnnotation)) {
      auto named = TargetsNamed(*object, LabelOr(annotations, config::kGatewayServiceAnnotation), targets);
      if (!named.empty()) selected.push_back({object, true, std::move(named)});
    } else if (view.HasLabels(object->Spec<Gateway>().selector())) {
      selected.push_back({object, false, targets});
    }
  }
  if (features.strict_merging) DropForeign(&selected);
  return selected;
}

}  // namespace

GatewayScopes::Result GatewayScopes::Get(const World& world) {
  const auto make = [](View& view, const MergedGatewayPtr& like) {
    const model::GatewayFeatures features = view.settings(model::SettingsPart::kIndexes)->gateways;
    MergedGateway merged = MergeGateways(SelectGateways(view, features), {features.quic}, like.get());
    if (like != nullptr && merged == *like) return like;
    return std::make_shared<const MergedGateway>(std::move(merged));
  };
  // The namespace is part of the key: what is merged for routers of two would not hold for both.
  return GetRecorded(cache_, world, Interned(world.client->proxy->ns), make, std::equal_to<MergedGateway>());
}

}  // namespace fairlead::mesh
