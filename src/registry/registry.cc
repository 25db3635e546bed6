#include "registry/registry.h"

#include "registry/state.h"

namespace fairlead::registry {

Registries::Registries() : state_(std::make_unique<State>()) {}
Registries::Registries(const Registries& other) : state_(std::make_unique<State>(*other.state_)) {}
Registries::~Registries() = default;

const model::RegistryOutput& Registries::Apply(const config::ObjectStore& store,
                                               std::span<const config::ObjectChange> changes,
                                               const model::SettingsPtr& settings) {
  state_->Apply(store, changes, settings);
  return state_->output;
}

const model::RegistryOutput& Registries::output() const { return state_->output; }

void Registries::DropChanges() { state_->output.changes = {}; }

}  // namespace fairlead::registry
