#ifndef FAIRLEAD_REGISTRY_REGISTRY_H_
#define FAIRLEAD_REGISTRY_REGISTRY_H_

#include <memory>
#include <span>

#include "config/object.h"
#include "config/store.h"
#include "model/registry_output.h"
#include "model/settings.h"

namespace fairlead::registry {

// Kubernetes Services, EndpointSlices, Pods and Nodes, and ServiceEntries and WorkloadEntries (whose
// selectors reach over both) become services and endpoints. Owned by the mesh thread; keeps state so that a
// change costs its own size.
class Registries {
 public:
  Registries();
  ~Registries();
  // `changes` are what ObjectStore::Apply returned; the store already holds them. An empty list with new
  // settings recomputes everything.
  const model::RegistryOutput& Apply(const config::ObjectStore& store,
                                     std::span<const config::ObjectChange> changes,
                                     const model::SettingsPtr& settings);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_REGISTRY_H_
