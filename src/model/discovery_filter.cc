#include "model/discovery_filter.h"

#include <algorithm>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/label_selector.h"

namespace fairlead::model {

DiscoveryFilter::DiscoveryFilter(const istio::mesh::v1alpha1::MeshConfig& mesh,
                                 const config::ObjectStore& store, const Interned& cluster,
                                 std::string* problem) {
  std::vector<LabelSelector> selectors;
  for (const auto& proto : mesh.discovery_selectors()) {
    absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(proto);
    if (!selector.ok()) {
      if (problem != nullptr) *problem = std::string(selector.status().message());
      return;
    }
    selectors.push_back(*std::move(selector));
  }
  if (selectors.empty()) return;
  everything_ = false;
  for (const auto& [key, object] : store.All(config::Kind::kNamespace, cluster)) {
    if (std::any_of(selectors.begin(), selectors.end(),
                    [&](const LabelSelector& s) { return s.Matches(object->meta().labels); })) {
      namespaces_.insert(object->name());
    }
  }
}

}  // namespace fairlead::model
