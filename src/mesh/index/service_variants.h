#ifndef FAIRLEAD_MESH_INDEX_SERVICE_VARIANTS_H_
#define FAIRLEAD_MESH_INDEX_SERVICE_VARIANTS_H_

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/service.h"

namespace fairlead::mesh {

// Services as scopes cut them down or put them together. Asking twice for the same variant of a service gives
// the same pointer, in whatever scope and snapshot, so that caches by pointer hold. Thread-safe.
class ServiceVariants {
 public:
  // With the first of its ports that has the number, and no other. Null where none has it.
  model::ServicePtr WithPort(const model::ServicePtr& service, uint32_t number);
  // With those of its ports only whose numbers are listed; the service itself if that is all of them. Null
  // where none is left.
  model::ServicePtr WithPorts(const model::ServicePtr& service, std::span<const uint32_t> numbers);
  // With those aliases (which must be some of its own, in its order).
  model::ServicePtr WithAliases(const model::ServicePtr& service, std::vector<model::NamespacedHost> aliases);
  // With the ports of `other` that it lacks appended; the service itself if it lacks none.
  model::ServicePtr WithPortsOf(const model::ServicePtr& service, const model::ServicePtr& other);

  // Forgets variants that nobody holds.
  void Sweep();

 private:
  struct Key {
    model::ServicePtr base;
    std::vector<model::ServicePort> ports;  // all that the variant has
    std::vector<model::NamespacedHost> aliases;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      h = H::combine(std::move(h), key.base, key.ports.size(), key.aliases.size());
      for (const model::ServicePort& port : key.ports) h = H::combine(std::move(h), port.port);
      for (const model::NamespacedHost& alias : key.aliases)
        h = H::combine(std::move(h), alias.hostname, alias.ns);
      return h;
    }
  };

  model::ServicePtr Find(Key key);

  std::mutex mutex_;
  absl::flat_hash_map<Key, model::ServicePtr> variants_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SERVICE_VARIANTS_H_
