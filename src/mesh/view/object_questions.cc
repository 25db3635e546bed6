#include "mesh/view/object_questions.h"

#include "mesh/index/policy_index.h"

namespace fairlead::mesh::questions {
namespace {

// Visits the lists for gateways that differ. Their names are "gateway", or "gateway namespace".
void CompareLists(const MeshSnapshot& before, const MeshSnapshot& after,
                  const VirtualServiceIndex::ListsByName& (VirtualServiceIndex::*lists)() const,
                  Visit visit) {
  CompareIndexes(before, after, &MeshSnapshot::virtual_services, [&](const auto& was, const auto& is) {
    (is.*lists)().ForEachDifference((was.*lists)(), [&](std::string_view name, const auto*, const auto*) {
      const size_t space = name.find(' ');
      if (name.substr(0, space) == "mesh") return;
      visit({name.substr(0, space), space == name.npos ? "" : name.substr(space + 1)});
    });
  });
}

// Calls compare(kind, was, is) for each kind whose part of an index is another.
template <typename Index, typename Part, typename Compare>
void CompareKinds(const MeshSnapshot& before, const MeshSnapshot& after, IndexOf<Index> index,
                  const std::shared_ptr<Part>& (Index::*part)(config::Kind) const, Compare&& compare) {
  CompareIndexes(before, after, index, [&](const Index& was, const Index& is) {
    for (const config::KindInfo& info : config::AllKinds()) {
      const std::shared_ptr<Part>&of_before = (was.*part)(info.kind), &of_after = (is.*part)(info.kind);
      if (of_before != of_after) compare(info.kind, of_before, of_after);
    }
  });
}

// Visits the namespaces whose values differ between two maps of a kind.
template <typename Map>
void CompareNamespaces(config::Kind kind, const Map& before, const Map& after, Visit visit) {
  CompareMaps(before, after, [&](const Key& ns) { visit({kind, ns.a}); });
}

// What it points to, or an empty one.
template <typename Part>
const Part& OrEmpty(const std::shared_ptr<const Part>& part) {
  static const auto* const none = new Part();
  return part == nullptr ? *none : *part;
}

}  // namespace

void GatewayRoutesForAll::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareLists(before, after, &VirtualServiceIndex::everywhere, visit);
}

void GatewayRoutesOwn::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareLists(before, after, &VirtualServiceIndex::own, visit);
}

void GatewayRoutesExported::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareLists(before, after, &VirtualServiceIndex::exported, visit);
}

NamespacePoliciesPtr Policies::Answer(const MeshSnapshot& mesh, config::Kind kind, const Interned& ns) {
  return mesh.policies->Part(kind, ns);
}

void Policies::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareKinds(before, after, &MeshSnapshot::policies, &PolicyIndex::Parts,
               [&](config::Kind kind, const auto& was, const auto& is) {
                 CompareNamespaces(kind, OrEmpty(was), OrEmpty(is), visit);
               });
}

void AllObjects::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareKinds(before, after, &MeshSnapshot::objects, &ObjectIndex::All,
               [&](config::Kind kind, const auto&, const auto&) { visit(kind); });
}

void Objects::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareKinds(before, after, &MeshSnapshot::objects, &ObjectIndex::All,
               [&](config::Kind kind, const auto& was, const auto& is) {
                 CompareNamespaces(kind, OrEmpty(was).namespaces, OrEmpty(is).namespaces, visit);
               });
}

void Written::Difference(const MeshSnapshot& before, const MeshSnapshot& after, Visit visit) {
  CompareIndexes(before, after, &MeshSnapshot::written,
                 [&](const WrittenObjects& was, const WrittenObjects& is) {
                   is.ForEachDifference(was, [&](config::Kind kind, const Interned& cluster) {
                     visit({kind, cluster});
                   });
                 });
}

}  // namespace fairlead::mesh::questions
