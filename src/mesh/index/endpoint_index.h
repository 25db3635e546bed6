#ifndef FAIRLEAD_MESH_INDEX_ENDPOINT_INDEX_H_
#define FAIRLEAD_MESH_INDEX_ENDPOINT_INDEX_H_

#include <memory>
#include <string_view>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "base/strings.h"
#include "mesh/index/by_namespace.h"
#include "model/endpoint.h"

namespace fairlead::mesh {

// The endpoints of the services that live in one namespace. Immutable; snapshots share it while none of them
// changes.
class NamespaceEndpoints {
 public:
  // Null where the service has no endpoints.
  model::ServiceEndpointsPtr Find(std::string_view hostname) const;
  // Stays the same while the EndpointTraits of all these services do.
  const std::shared_ptr<const void>& traits() const { return traits_; }
  using ByHost = ShardedMap<Interned, model::ServiceEndpointsPtr, StringViewHash, StringViewEqual, 64>;
  // What it has, for comparing.
  const ByHost& by_host() const { return by_host_; }

 private:
  friend class EndpointIndexBuilder;
  std::shared_ptr<const void> traits_;
  ByHost by_host_;
};
using NamespaceEndpointsPtr = std::shared_ptr<const NamespaceEndpoints>;

// Endpoints by service. Successors share the parts in which nothing changed.
class EndpointIndex {
 public:
  // Null where the service has no endpoints.
  model::ServiceEndpointsPtr Find(std::string_view hostname, std::string_view ns) const;
  // Null where no service of the namespace has endpoints.
  NamespaceEndpointsPtr Namespace(std::string_view ns) const;
  // What it has, for comparing.
  const ByNamespace<NamespaceEndpointsPtr>& namespaces() const { return namespaces_; }

 private:
  friend class EndpointIndexBuilder;
  ByNamespace<NamespaceEndpointsPtr> namespaces_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_ENDPOINT_INDEX_H_
