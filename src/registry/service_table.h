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
// its content is the same, gives ExternalName services to those that they stand for, and makes one service of
// the Services of one name in several clusters. A value; not thread-safe.
class ServiceTable {
 public:
  // The services that an object now makes; none: the object is gone.
  void Set(const config::ObjectKey& source, std::vector<model::Service> services);
  // To be called after the last Set of a batch: finds out which aliases every service has now.
  void ResolveAliases();

  // The services of an object, in its order, with their aliases. REQUIRES: it is no Kubernetes Service and no
  // ServiceImport.
  std::vector<model::ServicePtr> Of(const config::ObjectKey& source) const;
  // The one service of a Kubernetes Service or ServiceImport as that alone makes it. REQUIRES: it is there.
  model::ServicePtr PlainOf(const config::ObjectKey& service) const;
  const ShardedSet<model::ServicePtr>& All() const { return all_; }

 private:
  using AliasesByHost = absl::flat_hash_map<Interned, std::vector<model::NamespacedHost>>;
  struct Item {
    model::ServicePtr plain;  // as its object makes it
    // With aliases and what other clusters have under its name; the same pointer where there is neither. Null
    // where an earlier cluster has that name.
    model::ServicePtr complete;
  };

  bool LinksTo(const Interned& host, const config::ObjectKey& source) const;
  model::ServicePtr Complete(const model::ServicePtr& plain,
                             const std::vector<model::ServicePtr>& elsewhere = {}) const;
  void SetComplete(Item* item, model::ServicePtr complete);
  std::vector<config::ObjectKey> InAllClusters(const Interned& host, const config::ObjectKey& service) const;
  void JoinClusters(const Interned& host, const config::ObjectKey& service);
  void SetExternalName(const model::ServiceKey& key, const std::string* external_name);
  void Add(const config::ObjectKey& source, const Item& item);
  void Remove(const config::ObjectKey& source, const Item& item);
  AliasesByHost ComputeAliases() const;
  void RefreshHost(const Interned& host);

  ShardedSet<model::ServicePtr> all_;  // `complete` of every item that has one
  ShardedMap<config::ObjectKey, std::vector<Item>> by_source_;
  ShardedMap<Interned, std::set<config::ObjectKey>> sources_by_host_;
  SortedMap<model::ServiceKey, std::string> external_names_;  // of the ExternalName services
  bool aliases_outdated_ = false;
  AliasesByHost aliases_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SERVICE_TABLE_H_
