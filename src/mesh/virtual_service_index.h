#ifndef FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/snapshot.h"
#include "model/settings.h"

namespace istio::networking::v1alpha3 {
class HTTPRoute;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Makes VirtualServiceIndexes. Keeps what it made, so that a VirtualService whose object, delegates and
// defaults did not change keeps its pointer. Owned by the mesh thread.
class VirtualServiceIndexBuilder {
 public:
  std::shared_ptr<const VirtualServiceIndex> Build(const config::ObjectStore& store,
                                                   const model::Settings& settings,
                                                   std::vector<config::Diagnostic>* diagnostics);

 private:
  using DelegateList = std::vector<config::ConfigPtr>;

  struct Made {
    VirtualServicePtr virtual_service;
    std::vector<config::Diagnostic> problems;  // with delegates' routes
  };

  Made Make(const config::ConfigPtr& root, DelegateList delegates) const;
  // The delegates of the routes of `root` that name one, null for those that cannot be used.
  DelegateList FindDelegates(const config::ConfigPtr& root, const config::ObjectStore& store,
                             std::vector<config::Diagnostic>* diagnostics) const;
  config::ConfigPtr FindDelegate(const config::ConfigPtr& root,
                                 const istio::networking::v1alpha3::HTTPRoute& route, int position,
                                 const config::ObjectStore& store,
                                 std::vector<config::Diagnostic>* diagnostics) const;
  void ApplySettings(const model::Settings& settings);
  static void Place(const VirtualServicePtr& virtual_service, VirtualServiceIndex* index);

  std::string domain_;
  std::vector<std::string> default_export_to_;
  absl::flat_hash_map<const config::ConfigObject*, Made> made_;  // by the root object
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_
