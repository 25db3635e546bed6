#include "registry/registry.h"

#include "registry/state.h"

namespace fairlead::registry {

Registries::Registries() : state_(std::make_unique<State>()) {}
Registries::~Registries() = default;

const model::RegistryOutput& Registries::Apply(const config::ObjectStore& store,
                                               std::span<const config::ObjectChange> changes,
                                               const model::SettingsPtr& settings) {
  state_->Apply(store, changes, settings);
  return state_->output;
}

}  // namespace fairlead::registry
