#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "mesh/index/object_index_builder.h"

namespace fairlead::mesh {

using config::ConfigPtr;
using config::Kind;

namespace {

bool Older(const ConfigPtr& a, const ConfigPtr& b) { return config::OlderFirst(*a, *b); }

const ObjectIndex::List& NoObjects() {
  static const auto* none = new ObjectIndex::List();
  return *none;
}

}  // namespace

std::vector<ConfigPtr> OldestFirst(const config::ObjectStore& store, Kind kind) {
  std::vector<ConfigPtr> objects;
  const config::ObjectStore::ByName& all = store.All(kind);
  objects.reserve(all.size());
  for (const auto& [name, object] : all) objects.push_back(object);
  std::sort(objects.begin(), objects.end(), Older);
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
        case Kind::kServiceExport:
        case Kind::kServiceImport:
          break;
        default:
          all->push_back(info.kind);
      }
    }
    return all;
  }();
  return *kinds;
}

std::shared_ptr<const ObjectIndex> ObjectIndexBuilder::Build(
    const config::ObjectStore& store, const config::ObjectStore& before,
    const std::shared_ptr<const ObjectIndex>& previous) {
  auto index =
      previous == nullptr ? std::make_shared<ObjectIndex>() : std::make_shared<ObjectIndex>(*previous);
  bool changed = previous == nullptr;
  for (Kind kind : Kinds()) {
    auto& slot = index->kinds_[static_cast<size_t>(kind)];
    OfKindPtr now = UpdateKind(store.All(kind), before.All(kind), slot);
    if (now == slot) continue;
    slot = std::move(now);
    changed = true;
  }
  return changed ? index : previous;
}

ObjectIndexBuilder::OfKindPtr ObjectIndexBuilder::UpdateKind(const config::ObjectStore::ByName& all,
                                                             const config::ObjectStore::ByName& before,
                                                             const OfKindPtr& previous) {
  absl::flat_hash_set<Interned> changed;
  all.ForEachDifference(before, [&changed](const auto& name, const ConfigPtr*, const ConfigPtr*) {
    changed.insert(name.first);
  });
  if (changed.empty()) return previous;
  if (all.empty()) return nullptr;
  auto made = std::make_shared<ObjectIndex::OfKind>();
  if (previous != nullptr) made->namespaces = previous->namespaces;
  made->by_name = all;
  for (const Interned& ns : changed) {
    ObjectIndex::List objects;
    for (auto it = all.LowerBound({ns, {}}); it != all.end() && it->first.first == ns; ++it)
      objects.push_back(it->second);
    if (objects.empty()) {
      made->namespaces.Erase(ns);
      continue;
    }
    std::sort(objects.begin(), objects.end(), Older);
    made->namespaces[ns] = std::make_shared<const ObjectIndex::List>(std::move(objects));
  }
  return made;
}

const ObjectIndex::List& ObjectIndex::Sorted(const OfKind* of_kind) {
  if (of_kind == nullptr) return NoObjects();
  absl::call_once(of_kind->sorted_, [of_kind] {
    for (const auto& [ns, list] : of_kind->namespaces)
      of_kind->all_.insert(of_kind->all_.end(), list->begin(), list->end());
    std::sort(of_kind->all_.begin(), of_kind->all_.end(), Older);
  });
  return of_kind->all_;
}

const ObjectIndex::List& ObjectIndex::Of(Kind kind, std::string_view ns) const {
  const OfKind* of_kind = kinds_[static_cast<size_t>(kind)].get();
  const ListPtr* list = of_kind == nullptr ? nullptr : of_kind->namespaces.Find(ns);
  return list == nullptr ? NoObjects() : **list;
}

config::ConfigPtr ObjectIndex::Find(Kind kind, const Interned& ns, const Interned& name) const {
  const OfKind* of_kind = kinds_[static_cast<size_t>(kind)].get();
  const ConfigPtr* object = of_kind == nullptr ? nullptr : of_kind->by_name.Find({ns, name});
  return object == nullptr ? nullptr : *object;
}

ObjectIndex::ListPtr ObjectIndex::In(Kind kind, std::string_view ns) const {
  const OfKind* of_kind = kinds_[static_cast<size_t>(kind)].get();
  const ListPtr* list = of_kind == nullptr ? nullptr : of_kind->namespaces.Find(ns);
  return list == nullptr ? nullptr : *list;
}

}  // namespace fairlead::mesh
