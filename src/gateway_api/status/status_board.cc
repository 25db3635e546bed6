#include "gateway_api/status/status_board.h"

namespace fairlead::gateway_api {
namespace {

std::vector<config::ObjectChange> Differences(const config::ObjectStore& now,
                                              const config::ObjectStore& before) {
  std::vector<config::ObjectChange> changes;
  for (const config::KindInfo& kind : config::AllKinds()) {
    now.All(kind.kind).ForEachDifference(
        before.All(kind.kind), [&](const auto& name, const config::ConfigPtr*, const config::ConfigPtr* is) {
          changes.push_back({{kind.kind, name.first, name.second}, is == nullptr ? nullptr : *is});
        });
  }
  return changes;
}

}  // namespace

std::vector<StatusOf> StatusBoard::Statuses(const config::ObjectStore& objects,
                                            const mesh::MeshSnapshot& snapshot) {
  std::lock_guard lock(mutex_);
  if (!translation_) translation_.emplace(snapshot.settings->domain, snapshot.settings->features);
  translation_->Apply(objects, Differences(objects, seen_));
  seen_ = objects;
  return ComputeStatuses(*translation_, objects, snapshot);
}

}  // namespace fairlead::gateway_api
