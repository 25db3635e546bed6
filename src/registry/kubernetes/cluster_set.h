#ifndef FAIRLEAD_REGISTRY_KUBERNETES_CLUSTER_SET_H_
#define FAIRLEAD_REGISTRY_KUBERNETES_CLUSTER_SET_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/sorted_map.h"
#include "config/object.h"
#include "model/features.h"
#include "model/service.h"
#include "registry/mesh_facts.h"
#include "registry/selectable.h"
#include "registry/service_table.h"

// Multi-cluster services: a ServiceExport of a cluster offers the cluster's endpoints of a Service to proxies
// of other clusters. A ServiceImport of a cluster gives the Service of the same name there a second host with
// addresses of its own. Source: Kubernetes' KEP 1645; Istio's serviceExportCache and serviceImportCache.
namespace fairlead::registry {

// "reviews.default.svc.clusterset.local".
std::string ClusterSetHostname(std::string_view name, std::string_view ns);
// Whether the host is of that form.
bool IsClusterSetHostname(std::string_view host);

// The addresses of a ServiceImport that are any, in order.
std::vector<std::string> ImportedAddresses(const config::ConfigObject& service_import);

// The service that a ServiceImport makes of the Service of its name. `real`: that of the first cluster that
// has one. `here`: that of the import's own cluster, null where it has none. REQUIRES: the import has an
// address.
model::Service MakeImportedService(const config::ConfigPtr& service_import, const model::Service& real,
                                   const model::Service* here);

// What of one cluster takes part. A value. Part of the registries' state: used by the control loop alone.
class ClusterSet {
 public:
  bool empty() const { return exports_.empty() && imports_.empty(); }

  // The object as it now is (null: gone). Whether something changed.
  bool SetExport(const Name& name, const config::ConfigPtr& object);
  void SetImport(const Name& name, const config::ConfigPtr& object);
  // Makes the service of an import anew, or drops it. `real`, `here`: see MakeImportedService; null: there is
  // none. Whether something changed.
  bool Update(const Name& name, const model::Service* real, const model::Service* here,
              const MeshFacts& facts, ServiceTable* services);

  bool Exports(const Name& name) const { return exports_.contains(name); }
  bool HasImport(const Name& name) const { return imports_.contains(name); }
  // Null where no import makes one.
  model::ServicePtr Imported(const Name& name) const;
  // Whether the cluster's endpoints of a host are for proxies of the cluster alone. `has_service`: whether
  // the cluster has the service of this host.
  bool KeepsEndpoints(const Name& name, bool of_cluster_set, bool has_service,
                      const model::Features& features) const;

  const SortedMap<Name, config::ConfigPtr>& exports() const { return exports_; }
  const SortedMap<Name, config::ConfigPtr>& imports() const { return imports_; }

 private:
  SortedMap<Name, config::ConfigPtr> exports_, imports_;
  SortedMap<Name, model::ServicePtr> imported_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_KUBERNETES_CLUSTER_SET_H_
