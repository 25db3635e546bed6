#include "mesh/index/written_objects.h"

#include <set>

namespace fairlead::mesh {

using config::Kind;
using config::ObjectChange;

WrittenObjects::WrittenObjects(const WrittenObjects* before, const config::ObjectStore& store,
                               std::span<const ObjectChange> changes) {
  if (before != nullptr) *this = *before;
  std::set<std::pair<Interned, Kind>> changed;
  for (const ObjectChange& change : changes) changed.emplace(change.key.cluster, change.key.kind);
  std::shared_ptr<Others> others;
  for (const auto& [cluster, kind] : changed) {
    if (cluster.empty()) {
      own_[static_cast<size_t>(kind)] = std::make_shared<const config::ObjectStore::ByName>(store.All(kind));
      continue;
    }
    if (others == nullptr)
      others = others_ == nullptr ? std::make_shared<Others>() : std::make_shared<Others>(*others_);
    const config::ObjectStore::ByName& all = store.All(kind, cluster);
    if (all.empty()) {
      others->erase({cluster, kind});
    } else {
      (*others)[{cluster, kind}] = std::make_shared<const config::ObjectStore::ByName>(all);
    }
  }
  if (others == nullptr) return;
  others_ = std::move(others);
  std::vector<Interned> clusters = store.OtherClusters();
  if (clusters_ == nullptr || *clusters_ != clusters)
    clusters_ = std::make_shared<const std::vector<Interned>>(std::move(clusters));
}

WrittenObjects::OfKind WrittenObjects::All(Kind kind, const Interned& cluster) const {
  if (cluster.empty()) return own_[static_cast<size_t>(kind)];
  if (others_ == nullptr) return nullptr;
  const auto found = others_->find({cluster, kind});
  return found == others_->end() ? nullptr : found->second;
}

void WrittenObjects::ForEachDifference(const WrittenObjects& other,
                                       absl::FunctionRef<void(Kind, const Interned&)> visit) const {
  for (const config::KindInfo& info : config::AllKinds()) {
    const auto at = static_cast<size_t>(info.kind);
    if (own_[at] != other.own_[at]) visit(info.kind, Interned());
  }
  if (others_ == other.others_) return;
  static const auto* const none = new Others();
  const Others& mine = others_ == nullptr ? *none : *others_;
  const Others& theirs = other.others_ == nullptr ? *none : *other.others_;
  for (const auto& [key, objects] : mine) {
    const auto found = theirs.find(key);
    if (found == theirs.end() || found->second != objects) visit(key.second, key.first);
  }
  for (const auto& [key, objects] : theirs) {
    if (!mine.contains(key)) visit(key.second, key.first);
  }
}

}  // namespace fairlead::mesh
