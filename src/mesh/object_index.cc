#include "mesh/object_index.h"

#include <algorithm>

namespace fairlead::mesh {

using config::ConfigPtr;
using config::Kind;

std::vector<ConfigPtr> OldestFirst(const config::ObjectStore& store, Kind kind) {
  std::vector<ConfigPtr> objects;
  const config::ObjectStore::ByName& all = store.All(kind);
  objects.reserve(all.size());
  for (const auto& [name, object] : all) objects.push_back(object);
  std::sort(objects.begin(), objects.end(),
            [](const ConfigPtr& a, const ConfigPtr& b) { return config::OlderFirst(*a, *b); });
  return objects;
}

const std::vector<Kind>& ObjectIndexBuilder::Kinds() {
  static const auto* kinds = [] {
    auto* all = new std::vector<Kind>();
    for (const config::KindInfo& info : config::AllKinds()) {
      switch (info.kind) {
        case Kind::kVirtualService:
        case Kind::kDestinationRule:
        case Kind::kServiceEntry:
        case Kind::kWorkloadEntry:
        case Kind::kPeerAuthentication:
        case Kind::kService:
        case Kind::kEndpointSlice:
        case Kind::kPod:
        case Kind::kNode:
          break;
        default:
          all->push_back(info.kind);
      }
    }
    return all;
  }();
  return *kinds;
}

std::shared_ptr<const ObjectIndex> ObjectIndexBuilder::Build(const config::ObjectStore& store,
                                                             const std::vector<Kind>& changed,
                                                             const ObjectIndex* previous) {
  auto index =
      previous == nullptr ? std::make_shared<ObjectIndex>() : std::make_shared<ObjectIndex>(*previous);
  for (Kind kind : changed) {
    const auto slot = static_cast<size_t>(kind);
    index->by_kind_[slot] = OldestFirst(store, kind);
    index->by_namespace_[slot].clear();
    for (const ConfigPtr& object : index->by_kind_[slot]) {
      index->by_namespace_[slot][object->ns().str()].push_back(object);
    }
  }
  return index;
}

const std::vector<ConfigPtr>& ObjectIndex::Of(Kind kind) const { return by_kind_[static_cast<size_t>(kind)]; }

const std::vector<ConfigPtr>& ObjectIndex::Of(Kind kind, std::string_view ns) const {
  static const auto* none = new std::vector<ConfigPtr>();
  const auto& by_namespace = by_namespace_[static_cast<size_t>(kind)];
  auto it = by_namespace.find(ns);
  return it == by_namespace.end() ? *none : it->second;
}

}  // namespace fairlead::mesh
