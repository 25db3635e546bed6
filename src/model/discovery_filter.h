#ifndef FAIRLEAD_MODEL_DISCOVERY_FILTER_H_
#define FAIRLEAD_MODEL_DISCOVERY_FILTER_H_

#include <set>
#include <string>
#include <vector>

#include "base/interned.h"
#include "config/store.h"

namespace istio::mesh::v1alpha1 {
class MeshConfig;
}

namespace fairlead::model {

// Which namespaces a control plane looks at: MeshConfig.discoverySelectors. Objects of any kind in other
// namespaces are as if they did not exist; objects without a namespace are always seen. A plain value.
// Source: istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#MeshConfig-discovery_selectors
class DiscoveryFilter {
 public:
  DiscoveryFilter() = default;  // selects everything
  // Selects the namespaces whose Namespace object matches one of the selectors; without selectors, or with
  // one that is invalid, everything. `cluster` (see config::ObjectMeta) is whose namespaces they are.
  // `problem`, if not null, is told what is invalid.
  DiscoveryFilter(const istio::mesh::v1alpha1::MeshConfig& mesh, const config::ObjectStore& store,
                  const Interned& cluster = {}, std::string* problem = nullptr);

  bool selects_everything() const { return everything_; }
  bool Selects(const Interned& ns) const { return everything_ || ns.empty() || namespaces_.contains(ns); }
  friend bool operator==(const DiscoveryFilter&, const DiscoveryFilter&) = default;

 private:
  bool everything_ = true;
  std::set<Interned> namespaces_;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_DISCOVERY_FILTER_H_
