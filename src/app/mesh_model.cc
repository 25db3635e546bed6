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
  const std::vector<config::ObjectChange> effective = [&] {
    std::lock_guard lock(store_mutex_);
    return store_.Apply(changes);
  }();
  for (const config::ObjectChange& change : effective) changed->Add(push::ReasonOf(change.key.kind));
  const bool first = builder_ == nullptr;
  const bool new_settings = settings != nullptr && settings != settings_;
  if (!first && !new_settings && effective.empty()) return nullptr;
  if (new_settings) {
    if (first || settings->mesh != settings_->mesh) changed->Add(push::Reason::kGlobal);
    if (!first && !SameNetworks(*settings, *settings_)) changed->Add(push::Reason::kNetworks);
    settings_ = settings;
  }
  if (first) {
    builder_ = std::make_unique<mesh::SnapshotBuilder>(settings_, shadow_);
  } else if (new_settings) {
    builder_->SetSettings(settings_);
  }
  const model::RegistryOutput& registry = registries_.Apply(store_, effective, settings_);
  registry_diagnostics_ = registry.diagnostics;
  mesh::SnapshotPtr snapshot = builder_->Build(store_, registry);
  // Objects make gateways of networks, too.
  if (networks_ != nullptr && !new_settings && networks_->All() != snapshot->networks->All())
    changed->Add(push::Reason::kNetworks);
  networks_ = snapshot->networks;
  push::Metrics().services.Set(static_cast<double>(snapshot->services->All().size()));
  push::Metrics().virtual_services.Set(static_cast<double>(store_.All(config::Kind::kVirtualService).size()));
  return snapshot;
}

std::vector<config::ConfigPtr> StoreMeshModel::Objects() const {
  std::lock_guard lock(store_mutex_);
  std::vector<config::ConfigPtr> all;
  for (const config::KindInfo& kind : config::AllKinds()) {
    for (const auto& [name, object] : store_.All(kind.kind)) all.push_back(object);
  }
  return all;
}

std::vector<config::ConfigPtr> StoreMeshModel::ObjectsOf(config::Kind kind) const {
  std::lock_guard lock(store_mutex_);
  std::vector<config::ConfigPtr> all;
  for (const auto& [name, object] : store_.All(kind)) all.push_back(object);
  return all;
}

uint64_t StoreMeshModel::RevisionOf(config::Kind kind) const {
  std::lock_guard lock(store_mutex_);
  return store_.Revision(kind);
}

std::vector<config::Diagnostic> StoreMeshModel::Diagnostics() const {
  std::vector<config::Diagnostic> all = registry_diagnostics_;
  if (builder_ != nullptr)
    all.insert(all.end(), builder_->diagnostics().begin(), builder_->diagnostics().end());
  return all;
}

}  // namespace fairlead::app
