#ifndef FAIRLEAD_REGISTRY_SERVICE_TABLE_H_
#define FAIRLEAD_REGISTRY_SERVICE_TABLE_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/object.h"
#include "model/registry_output.h"

namespace fairlead::registry {

// All services of all registries, by the objects that they come from. Keeps a service's pointer as long as
// its content is the same, and gives ExternalName services to those that they stand for. A value; not
// thread-safe.
class ServiceTable {
 public:
  // The services that an object now makes; none: the object is gone.
  void Set(const config::ObjectKey& source, std::vector<model::Service> services);
  // To be called after the last Set of a batch: finds out which aliases every service has now.
  void ResolveAliases();

  // The services of an object, in its order, with their aliases.
  std::vector<model::ServicePtr> Of(const config::ObjectKey& source) const;
  const ShardedSet<model::ServicePtr>& All() const { return all_; }

 private:
  using AliasesByHost = absl::flat_hash_map<Interned, std::vector<model::NamespacedHost>>;
  struct Item {
    model::ServicePtr plain;     // as its object makes it
    model::ServicePtr complete;  // with aliases; the same pointer where there are none
  };

  bool LinksTo(const Interned& host, const config::ObjectKey& source) const;
  model::ServicePtr Complete(const model::ServicePtr& plain) const;
  void Add(const config::ObjectKey& source, const Item& item);
  void Remove(const config::ObjectKey& source, const Item& item);
  AliasesByHost ComputeAliases() const;
  void RefreshHost(const Interned& host);

  ShardedSet<model::ServicePtr> all_;  // `complete` of every item
  ShardedMap<config::ObjectKey, std::vector<Item>> by_source_;
  ShardedMap<Interned, std::set<config::ObjectKey>> sources_by_host_;
  SortedMap<model::ServiceKey, std::string> external_names_;  // of the ExternalName services
  bool aliases_outdated_ = false;
  AliasesByHost aliases_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICE_TABLE_H_
