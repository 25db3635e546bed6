#include "mesh/snapshot_diff.h"

#include "mesh/destination_rule_index.h"
#include "mesh/policy_index.h"

namespace fairlead::mesh {

// A friend of the indexes: it compares their maps, which nobody else is to see.
class SnapshotDifference {
 public:
  SnapshotDifference(const MeshSnapshot& before, const MeshSnapshot& after,
                     absl::FunctionRef<void(const Question&)> visit)
      : before_(before), after_(after), visit_(visit) {}

  void Run() {
    if (before_.settings != after_.settings) visit_({Part::kSettings});
    CompareServices();
    CompareNamespaces(Part::kEndpoints, &MeshSnapshot::endpoints);
    CompareVirtualServices();
    CompareNamespaces(Part::kDestinationRules, &MeshSnapshot::destination_rules);
    CompareNamespaces(Part::kPeerAuthentications, &MeshSnapshot::peer_authentications);
    ComparePolicies();
    CompareObjects();
    CompareWorkloads();
    if (before_.networks != after_.networks) visit_({Part::kNetworks});
    CompareExternalTargets();
    CompareWritten();
    CompareKeySets();
    if (before_.trust_bundle != after_.trust_bundle) visit_({Part::kTrustBundle});
  }

 private:
  template <typename Index>
  using IndexOf = std::shared_ptr<const Index> MeshSnapshot::*;

  // The index of the earlier snapshot; an empty one where it has none.
  template <typename Index>
  const Index& Before(IndexOf<Index> index) const {
    static const auto* none = new Index();
    const Index* before = (before_.*index).get();
    return before == nullptr ? *none : *before;
  }
  template <typename Index>
  bool Same(IndexOf<Index> index) const {
    return before_.*index == after_.*index || after_.*index == nullptr;
  }

  template <typename Index>
  void CompareNamespaces(Part part, IndexOf<Index> index) {
    if (!Same(index)) CompareMaps(part, (after_.*index)->namespaces_, Before(index).namespaces_);
  }
  template <typename Map>
  void CompareMaps(Part part, const Map& after, const Map& before, config::Kind kind = {}) {
    after.ForEachDifference(before, [&](const Interned& ns, const auto*, const auto*) {
      visit_({part, kind, ns});
    });
  }

  // The same of maps that share nothing but their values.
  template <typename Value>
  void CompareMaps(Part part, const StringMap<Value>& after, const StringMap<Value>& before,
                   config::Kind kind = {}) {
    for (const auto& [ns, value] : after) {
      const auto old = before.find(ns);
      if (old == before.end() || old->second != value) visit_({part, kind, ns});
    }
    for (const auto& [ns, value] : before) {
      if (!after.contains(ns)) visit_({part, kind, ns});
    }
  }

  void CompareServices() {
    if (Same(&MeshSnapshot::services)) return;
    visit_({Part::kAllServices});
    CompareNamespaces(Part::kServices, &MeshSnapshot::services);
    after_.services->by_host_.ForEachDifference(Before(&MeshSnapshot::services).by_host_,
                                                [&](const Interned& host, const auto*, const auto*) {
                                                  visit_({Part::kHost, {}, host});
                                                });
  }

  void CompareVirtualServices() {
    if (Same(&MeshSnapshot::virtual_services)) return;
    visit_({Part::kAllVirtualServices});
    CompareMaps(Part::kVirtualServices, after_.virtual_services->of_mesh_in_,
                Before(&MeshSnapshot::virtual_services).of_mesh_in_);
    const VirtualServiceIndex& before = Before(&MeshSnapshot::virtual_services);
    CompareGateways(Part::kVirtualServicesForAll, after_.virtual_services->everywhere_, before.everywhere_);
    CompareGateways(Part::kVirtualServicesOwn, after_.virtual_services->own_, before.own_);
    CompareGateways(Part::kVirtualServicesForSome, after_.virtual_services->exported_, before.exported_);
  }
  // Keys are "gateway", or "gateway namespace". Those for sidecars ("mesh") are not asked for one by one.
  void CompareGateways(Part part, const VirtualServiceIndex::ListsByName& after,
                       const VirtualServiceIndex::ListsByName& before) {
    after.ForEachDifference(before, [&](std::string_view key, const auto*, const auto*) {
      const size_t space = key.find(' ');
      if (key.substr(0, space) == "mesh") return;
      visit_({part, {}, key.substr(0, space), space == key.npos ? "" : key.substr(space + 1)});
    });
  }

  void ComparePolicies() {
    if (Same(&MeshSnapshot::policies)) return;
    const PolicyIndex& before = Before(&MeshSnapshot::policies);
    for (const config::Kind kind : PolicyIndexBuilder::Kinds()) {
      const auto& was = before.All(kind);
      const auto& is = after_.policies->All(kind);
      if (&was != &is) CompareMaps(Part::kPolicies, is, was, kind);
    }
  }

  void CompareKeySets() {
    if (before_.key_sets == after_.key_sets) return;
    static const auto* none = new model::KeySets();
    const model::KeySets& was = before_.key_sets == nullptr ? *none : *before_.key_sets;
    const model::KeySets& is = after_.key_sets == nullptr ? *none : *after_.key_sets;
    for (const auto& [source, keys] : is) {
      const auto old = was.find(source);
      if (old == was.end() || old->second != keys) visit_({Part::kKeySet, {}, source.uri, source.issuer});
    }
    for (const auto& [source, keys] : was) {
      if (!is.contains(source)) visit_({Part::kKeySet, {}, source.uri, source.issuer});
    }
  }

  void CompareObjects() {
    if (Same(&MeshSnapshot::objects)) return;
    static const auto* none = new ObjectIndex::OfKind();
    const ObjectIndex& before = Before(&MeshSnapshot::objects);
    for (size_t i = 0; i < config::KindCount(); ++i) {
      const auto& was = before.kinds_[i];
      const auto& is = after_.objects->kinds_[i];
      if (was == is) continue;
      visit_({Part::kAllObjects, static_cast<config::Kind>(i)});
      CompareMaps(Part::kObjects, (is == nullptr ? none : is.get())->namespaces,
                  (was == nullptr ? none : was.get())->namespaces, static_cast<config::Kind>(i));
    }
  }

  void CompareWorkloads() {
    if (Same(&MeshSnapshot::workloads)) return;
    const WorkloadIndex& before = Before(&MeshSnapshot::workloads);
    after_.workloads->by_address_.ForEachDifference(
        before.by_address_, [&](const std::string& address, const auto*, const auto*) {
          visit_({Part::kWorkloads, {}, address});
        });
    after_.workloads->pods_.ForEachDifference(
        before.pods_, [&](const std::pair<Interned, Interned>& pod, const auto*, const auto*) {
          visit_({Part::kPod, {}, pod.first, pod.second});
        });
  }

  void CompareExternalTargets() {
    if (Same(&MeshSnapshot::external_targets)) return;
    after_.external_targets->by_address_.ForEachDifference(
        Before(&MeshSnapshot::external_targets).by_address_,
        [&](const Interned& address, const auto*, const auto*) {
          visit_({Part::kExternalTargets, {}, address});
        });
  }

  void CompareWritten() {
    if (Same(&MeshSnapshot::written)) return;
    const WrittenObjects& before = Before(&MeshSnapshot::written);
    for (const config::KindInfo& kind : config::AllKinds()) {
      if (before.All(kind.kind) != after_.written->All(kind.kind)) visit_({Part::kWritten, kind.kind});
    }
  }

  const MeshSnapshot& before_;
  const MeshSnapshot& after_;
  const absl::FunctionRef<void(const Question&)> visit_;
};

void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const Question&)> visit) {
  static const auto* none = new MeshSnapshot();
  SnapshotDifference(before == nullptr ? *none : *before, after, visit).Run();
}

}  // namespace fairlead::mesh
