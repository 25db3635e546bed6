#ifndef FAIRLEAD_MESH_VIEW_SCOPE_SERVICES_H_
#define FAIRLEAD_MESH_VIEW_SCOPE_SERVICES_H_

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "mesh/index/service_variants.h"
#include "mesh/view/sidecar_scope.h"
#include "model/service.h"

namespace fairlead::mesh {

// Drops services that share a hostname with a better one of another namespace: the client's own namespace is
// best, then that of a Kubernetes service, then that of the first in order.
void KeepOneNamespacePerHost(std::string_view client_ns, std::vector<model::ServicePtr>* services);

// The best of the services of one hostname for a client in a namespace where the host itself does not exist:
// a visible Kubernetes one, else the oldest visible one, else null.
model::ServicePtr BestVisible(const std::vector<model::ServicePtr>& candidates, std::string_view client_ns);

// Collects what a scope imports, one service per hostname. A Kubernetes service takes the place of a
// ServiceEntry's; parts of one service (cut down by several listeners) are put together.
class ScopeServices {
 public:
  // The scope's services and services_by_host are filled; it and `variants` must outlive this.
  ScopeServices(ScopeImports* scope, ServiceVariants* variants) : scope_(scope), variants_(variants) {}

  void Reserve(size_t count);
  void Add(const model::ServicePtr& service);

 private:
  void Replace(size_t position, const model::ServicePtr& service);

  ScopeImports* scope_;
  ServiceVariants* variants_;
  absl::flat_hash_map<Interned, size_t> positions_;  // in scope_->services, by hostname
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_SCOPE_SERVICES_H_
