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
// selectors reach over both) become services and endpoints. Keeps state so that a change costs its own size.
// A value: a copy costs little, shares what it has in common with the original, and is changed apart from it.
// Not thread-safe.
class Registries {
 public:
  Registries();
  Registries(const Registries& other);
  Registries& operator=(const Registries&) = delete;
  ~Registries();
  // `changes` are what ObjectStore::Apply returned; the store already holds them. An empty list with new
  // settings recomputes everything.
  const model::RegistryOutput& Apply(const config::ObjectStore& store,
                                     std::span<const config::ObjectChange> changes,
                                     const model::SettingsPtr& settings);
  // What the last Apply gave.
  const model::RegistryOutput& output() const;
  // Forgets what the last Apply changed, when that has been indexed.
  void DropChanges();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_REGISTRY_H_
