#include "mesh/snapshot_diff.h"

#include "mesh/destination_rule_index.h"

namespace fairlead::mesh {

// A friend of the indexes: it compares their maps, which nobody else is to see.
class SnapshotDifference {
 public:
  SnapshotDifference(const MeshSnapshot& before, const MeshSnapshot& after,
                     absl::FunctionRef<void(const ChangedPart&)> visit)
      : before_(before), after_(after), visit_(visit) {}

  void Run() {
    if (before_.settings != after_.settings) visit_({SnapshotPart::kSettings});
    CompareServices();
    CompareNamespaces(SnapshotPart::kEndpoints, &MeshSnapshot::endpoints);
    CompareVirtualServices();
    CompareNamespaces(SnapshotPart::kDestinationRules, &MeshSnapshot::destination_rules);
    if (before_.peer_authentications != after_.peer_authentications)
      visit_({SnapshotPart::kPeerAuthentications});
    CompareObjects();
    CompareWorkloads();
    if (before_.networks != after_.networks) visit_({SnapshotPart::kNetworks});
    if (before_.external_targets != after_.external_targets) visit_({SnapshotPart::kExternalTargets});
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
  void CompareNamespaces(SnapshotPart part, IndexOf<Index> index) {
    if (!Same(index)) CompareMaps(part, (after_.*index)->namespaces_, Before(index).namespaces_);
  }
  template <typename Map>
  void CompareMaps(SnapshotPart part, const Map& after, const Map& before, config::Kind kind = {}) {
    after.ForEachDifference(before, [&](const Interned& ns, const auto*, const auto*) {
      visit_({.part = part, .kind = kind, .ns = ns, .name = {}});
    });
  }

  void CompareServices() {
    if (Same(&MeshSnapshot::services)) return;
    visit_({SnapshotPart::kAllServices});
    CompareNamespaces(SnapshotPart::kServices, &MeshSnapshot::services);
    after_.services->by_host_.ForEachDifference(
        Before(&MeshSnapshot::services).by_host_, [&](const Interned& host, const auto*, const auto*) {
          visit_({.part = SnapshotPart::kServicesOfHost, .ns = {}, .name = host});
        });
  }

  void CompareVirtualServices() {
    if (Same(&MeshSnapshot::virtual_services)) return;
    visit_({SnapshotPart::kVirtualServicesSeen});
    CompareMaps(SnapshotPart::kVirtualServices, after_.virtual_services->of_mesh_in_,
                Before(&MeshSnapshot::virtual_services).of_mesh_in_);
  }

  void CompareObjects() {
    if (Same(&MeshSnapshot::objects)) return;
    static const auto* none = new ObjectIndex::OfKind();
    const ObjectIndex& before = Before(&MeshSnapshot::objects);
    for (size_t i = 0; i < config::KindCount(); ++i) {
      const auto& was = before.kinds_[i];
      const auto& is = after_.objects->kinds_[i];
      if (was == is) continue;
      CompareMaps(SnapshotPart::kObjects, (is == nullptr ? none : is.get())->namespaces,
                  (was == nullptr ? none : was.get())->namespaces, static_cast<config::Kind>(i));
    }
  }

  void CompareWorkloads() {
    if (Same(&MeshSnapshot::workloads)) return;
    const WorkloadIndex& before = Before(&MeshSnapshot::workloads);
    after_.workloads->by_address_.ForEachDifference(
        before.by_address_, [&](const std::string& address, const auto*, const auto*) {
          visit_({.part = SnapshotPart::kWorkload, .ns = {}, .name = address});
        });
    after_.workloads->pods_.ForEachDifference(
        before.pods_, [&](const std::pair<Interned, Interned>& pod, const auto*, const auto*) {
          visit_({.part = SnapshotPart::kPod, .ns = pod.first, .name = pod.second});
        });
  }

  const MeshSnapshot& before_;
  const MeshSnapshot& after_;
  const absl::FunctionRef<void(const ChangedPart&)> visit_;
};

void ForEachDifference(const MeshSnapshot* before, const MeshSnapshot& after,
                       absl::FunctionRef<void(const ChangedPart&)> visit) {
  static const auto* none = new MeshSnapshot();
  SnapshotDifference(before == nullptr ? *none : *before, after, visit).Run();
}

}  // namespace fairlead::mesh
