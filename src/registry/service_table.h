#ifndef FAIRLEAD_REGISTRY_SERVICE_TABLE_H_
#define FAIRLEAD_REGISTRY_SERVICE_TABLE_H_

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "config/object.h"
#include "model/registry_output.h"
#include "registry/slots.h"

namespace fairlead::registry {

// All services of all registries, by the objects that they come from. Keeps a service's pointer as long as
// its content is the same, and gives ExternalName services to those that they stand for. Used by the mesh
// thread alone.
class ServiceTable {
 public:
  // Keeps `services` up to date; it must outlive the table.
  explicit ServiceTable(std::vector<model::ServicePtr>* services) : slots_(services) {}

  // The services that an object now makes; none: the object is gone.
  void Set(const config::ObjectKey& source, std::vector<model::Service> services);
  // To be called after the last Set of a batch: finds out which aliases every service has now.
  void ResolveAliases();

  // The services of an object, in its order, with their aliases.
  std::vector<model::ServicePtr> Of(const config::ObjectKey& source) const;
  // Services that are new, changed or gone since the last call.
  absl::flat_hash_set<model::ServiceKey> TakeChanged();

 private:
  using AliasesByHost = absl::flat_hash_map<Interned, std::vector<model::NamespacedHost>>;
  struct Id {
    config::ObjectKey source;
    Interned host, address;
    friend bool operator==(const Id&, const Id&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Id& id) {
      return H::combine(std::move(h), id.source, id.host, id.address);
    }
  };
  struct Item {
    model::ServicePtr plain;     // as its object makes it
    model::ServicePtr complete;  // with aliases; the same pointer where there are none
  };

  static Id IdOf(const config::ObjectKey& source, const model::Service& service);
  model::ServicePtr Complete(const model::ServicePtr& plain) const;
  void Add(const config::ObjectKey& source, const Item& item);
  void Remove(const config::ObjectKey& source, const Item& item);
  AliasesByHost ComputeAliases() const;
  void RefreshHost(const Interned& host);

  Slots<Id, model::ServicePtr> slots_;
  absl::flat_hash_map<config::ObjectKey, std::vector<Item>> by_source_;
  absl::flat_hash_map<Interned, std::set<config::ObjectKey>> sources_by_host_;
  std::map<model::ServiceKey, std::string> external_names_;  // of the ExternalName services
  bool aliases_outdated_ = false;
  AliasesByHost aliases_;
  absl::flat_hash_set<model::ServiceKey> changed_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICE_TABLE_H_
