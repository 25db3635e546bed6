#include "app/mesh_model.h"

#include <google/protobuf/util/message_differencer.h>

#include "istio/mesh/v1alpha1/network.pb.h"
#include "push/push_metrics.h"

namespace fairlead::app {
namespace {

bool SameNetworks(const model::Settings& a, const model::Settings& b) {
  return a.networks == b.networks ||
         google::protobuf::util::MessageDifferencer::Equals(*a.networks, *b.networks);
}

}  // namespace

mesh::SnapshotPtr StoreMeshModel::Update(std::span<const config::ObjectChange> changes,
                                         const model::SettingsPtr& settings, push::Reasons* changed) {
  const model::SettingsPtr before = mesh_.settings();
  const state::Mesh::Change change = mesh_.Apply(changes, settings);
  if (change.snapshot == nullptr) return nullptr;
  for (const config::ObjectChange& object : change.objects) changed->Add(push::ReasonOf(object.key.kind));
  const bool new_settings = mesh_.settings() != before;
  if (new_settings) {
    if (before == nullptr || settings->mesh != before->mesh) changed->Add(push::Reason::kGlobal);
    if (before != nullptr && !SameNetworks(*settings, *before)) changed->Add(push::Reason::kNetworks);
  }
  // Objects make gateways of networks, too.
  if (networks_ != nullptr && !new_settings && networks_->All() != change.snapshot->networks->All())
    changed->Add(push::Reason::kNetworks);
  networks_ = change.snapshot->networks;
  {
    std::lock_guard lock(objects_mutex_);
    objects_ = mesh_.written();
    all_objects_ = mesh_.objects();
  }
  push::Metrics().services.Set(static_cast<double>(change.snapshot->services->All().size()));
  push::Metrics().virtual_services.Set(
      static_cast<double>(mesh_.written().All(config::Kind::kVirtualService).size()));
  return change.snapshot;
}

config::ObjectStore StoreMeshModel::Store() const {
  std::lock_guard lock(objects_mutex_);
  return objects_;
}

config::ObjectStore StoreMeshModel::AllObjects() const {
  std::lock_guard lock(objects_mutex_);
  return all_objects_;
}

std::vector<config::ConfigPtr> StoreMeshModel::Objects() const {
  const config::ObjectStore store = Store();
  std::vector<config::ConfigPtr> all;
  for (const config::KindInfo& kind : config::AllKinds()) {
    for (const auto& [name, object] : store.All(kind.kind)) all.push_back(object);
  }
  return all;
}

std::vector<config::Diagnostic> StoreMeshModel::Diagnostics() const { return mesh_.Diagnostics(); }

}  // namespace fairlead::app
