#ifndef FAIRLEAD_MESH_INDEX_OBJECT_INDEX_H_
#define FAIRLEAD_MESH_INDEX_OBJECT_INDEX_H_

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/call_once.h"
#include "config/kind.h"
#include "config/object.h"
#include "config/store.h"
#include "mesh/index/by_namespace.h"

namespace fairlead::mesh {

// Objects of one kind by namespace, oldest first: what the policy kinds (AuthorizationPolicy, Telemetry,
// EnvoyFilter, WasmPlugin, …) start from.
class ObjectIndex {
 public:
  using List = std::vector<config::ConfigPtr>;
  using ListPtr = std::shared_ptr<const List>;

  const List& Of(config::Kind kind, std::string_view ns) const;
  // The same; null where there are none.
  ListPtr In(config::Kind kind, std::string_view ns) const;
  // Those of all namespaces: sorted when they are asked for first.
  const List& Of(config::Kind kind) const { return Sorted(All(kind).get()); }
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, const Interned& ns, const Interned& name) const;

  // All of a kind. Shared by all snapshots between two changes of the kind.
  struct OfKind {
    ByNamespace<ListPtr> namespaces;
    config::ObjectStore::ByName by_name;  // shared with the store

   private:
    friend class ObjectIndex;
    mutable absl::once_flag sorted_;
    mutable List all_;
  };
  // Null where there are none.
  const std::shared_ptr<const OfKind>& All(config::Kind kind) const {
    return kinds_[static_cast<size_t>(kind)];
  }
  // Oldest first, empty for null: sorted when they are asked for first.
  static const List& Sorted(const OfKind* of_kind);

 private:
  friend class ObjectIndexBuilder;
  std::array<std::shared_ptr<const OfKind>, config::KindCount()> kinds_;  // null: none
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_OBJECT_INDEX_H_
