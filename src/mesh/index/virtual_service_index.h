#ifndef FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sharded_map.h"
#include "base/strings.h"
#include "mesh/index/by_namespace.h"
#include "mesh/index/routing_objects.h"

namespace fairlead::mesh {

// All VirtualServices, and which a namespace sees. Successors share the parts in which nothing changed.
class VirtualServiceIndex {
 public:
  using List = std::vector<VirtualServicePtr>;
  using ListPtr = std::shared_ptr<const List>;
  using ListsByName = ShardedMap<std::string, ListPtr, StringViewHash, StringViewEqual, 64>;

  const List& All() const;  // oldest first
  // Those for `gateway` ("mesh" or "namespace/name") that `ns` sees, in the order in which they compete: its
  // own private ones, those exported to it by name, those that everybody sees; in each group the oldest first
  // (but Gateway API routes of the namespace itself before others).
  List VisibleIn(std::string_view ns, std::string_view gateway) const;
  // The same of the three groups; null: empty.
  static List InOrder(std::string_view ns, const List* own, const List* exported, const List* everywhere);
  // The three groups as they are.
  std::array<const List*, 3> GroupsFor(std::string_view ns, std::string_view gateway) const;
  // The groups one by one; null: empty.
  ListPtr OwnOf(std::string_view ns, std::string_view gateway) const;
  ListPtr ExportedTo(std::string_view ns, std::string_view gateway) const;
  ListPtr ForAll(std::string_view gateway) const;
  // Those that live in a namespace and are for sidecars ("mesh"), whoever sees them, oldest first. Null where
  // there are none.
  ListPtr OfMeshIn(std::string_view ns) const;

  // What ForAll, OwnOf, ExportedTo and OfMeshIn have, for comparing.
  const ListsByName& everywhere() const { return everywhere_; }
  const ListsByName& own() const { return own_; }
  const ListsByName& exported() const { return exported_; }
  const ByNamespace<ListPtr>& namespaces() const { return of_mesh_in_; }

 private:
  friend class VirtualServiceIndexBuilder;
  ListPtr all_;                      // null: empty
  ListsByName everywhere_;           // by gateway
  ListsByName own_;                  // by "gateway namespace"
  ListsByName exported_;             // likewise
  ByNamespace<ListPtr> of_mesh_in_;  // by the namespace where they live
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_H_
