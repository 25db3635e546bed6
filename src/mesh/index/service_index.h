#ifndef FAIRLEAD_MESH_INDEX_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_INDEX_SERVICE_INDEX_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "base/sharded_map.h"
#include "base/strings.h"
#include "mesh/index/by_namespace.h"
#include "model/service.h"

namespace fairlead::mesh {

// The services that live in one namespace. Snapshots share it while none of them changes.
struct NamespaceServices {
  std::vector<model::ServicePtr> all;  // in Istio's order
  // Positions in `all` of services with a selector, in some cluster, each by one pair of it ("key=value"):
  // the one that is rarest here.
  StringMap<std::vector<uint32_t>> by_selector_pair;

  // The Kubernetes services that select a workload of a cluster (see config::ObjectMeta) with these labels,
  // in order, as the cluster has them.
  std::vector<model::ServicePtr> Selecting(const LabelMap& labels, const Interned& cluster = {}) const;
};
using NamespaceServicesPtr = std::shared_ptr<const NamespaceServices>;

// Services by host and namespace. Successors share the parts in which nothing changed.
class ServiceIndex {
 public:
  using Services = std::vector<model::ServicePtr>;
  using List = std::shared_ptr<const Services>;

  // All services in Istio's order: older first, then name, then namespace.
  const Services& All() const;
  // Whatever its exportTo. Where a namespace has several of a host: a Kubernetes one, else the oldest.
  model::ServicePtr Find(std::string_view hostname, std::string_view ns) const;
  // Find's answers for every namespace, in order of the namespaces; empty where the host is unknown.
  const Services& ByHost(std::string_view hostname) const;
  // The same; null where the host is unknown.
  List Host(std::string_view hostname) const;
  // All services that live in a namespace, in order.
  const Services& InNamespace(std::string_view ns) const;
  // The same; null where there are none. What Find says of a namespace depends on nothing else.
  NamespaceServicesPtr Namespace(std::string_view ns) const;
  // The services that a workload of `ns` may see: first those exported to it by name (its own private ones
  // included), then those that everybody sees, both in order.
  Services VisibleIn(std::string_view ns) const;

  // What Namespace and Host have, for comparing.
  using ByHostname = ShardedMap<Interned, List, StringViewHash, StringViewEqual>;
  const ByNamespace<NamespaceServicesPtr>& namespaces() const { return namespaces_; }
  const ByHostname& hosts() const { return by_host_; }

 private:
  friend class ServiceIndexBuilder;
  List all_, everywhere_;       // null: empty
  ByNamespace<List> exported_;  // to a namespace
  ByNamespace<NamespaceServicesPtr> namespaces_;
  ByHostname by_host_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SERVICE_INDEX_H_
