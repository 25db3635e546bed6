#ifndef FAIRLEAD_MESH_INDEX_OBJECT_INDEX_BUILDER_H_
#define FAIRLEAD_MESH_INDEX_OBJECT_INDEX_BUILDER_H_

#include <memory>
#include <vector>

#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/index/policy_index.h"
#include "mesh/index/snapshot.h"

// Indexes of objects that are read as they are written. Pure functions.
namespace fairlead::mesh {

class ObjectIndexBuilder {
 public:
  // `previous` (may be null) is the index of `before`: what the two stores have in common is not looked at.
  // The same index again where they differ in no kind of an ObjectIndex.
  static std::shared_ptr<const ObjectIndex> Build(const config::ObjectStore& store,
                                                  const config::ObjectStore& before,
                                                  const std::shared_ptr<const ObjectIndex>& previous);
  // The kinds that an ObjectIndex holds: what is neither a service, an endpoint, a workload nor made into an
  // index of its own.
  static const std::vector<config::Kind>& Kinds();

 private:
  using OfKindPtr = std::shared_ptr<const ObjectIndex::OfKind>;
  static OfKindPtr UpdateKind(const config::ObjectStore::ByName& all,
                              const config::ObjectStore::ByName& before, const OfKindPtr& previous);
};

class PeerAuthenticationIndexBuilder {
 public:
  // Keeps the parts of `previous` (may be null) that did not change.
  static std::shared_ptr<const PeerAuthenticationIndex> Build(
      const PolicyIndex& policies, const std::shared_ptr<const PeerAuthenticationIndex>& previous,
      std::vector<config::Diagnostic>* diagnostics);
};

// All objects of a kind, oldest first.
std::vector<config::ConfigPtr> OldestFirst(const config::ObjectStore& store, config::Kind kind);

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_OBJECT_INDEX_BUILDER_H_
