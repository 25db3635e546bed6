#ifndef FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_
#define FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_

#include <memory>
#include <string>
#include <vector>

#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/snapshot.h"
#include "mesh/sorted_list.h"
#include "model/settings.h"

namespace istio::networking::v1alpha3 {
class HTTPRoute;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Makes VirtualServiceIndexes. Keeps what it made, so that a VirtualService whose object, delegates and
// defaults did not change keeps its pointer, and what lists only such is shared with the last index. Owned by
// the mesh thread.
class VirtualServiceIndexBuilder {
 public:
  std::shared_ptr<const VirtualServiceIndex> Build(const config::ObjectStore& store,
                                                   const model::Settings& settings,
                                                   std::vector<config::Diagnostic>* diagnostics);

 private:
  using DelegateList = std::vector<config::ConfigPtr>;
  using Change = ListChange<VirtualServicePtr>;

  struct Made {
    config::ConfigPtr object;
    VirtualServicePtr virtual_service;         // null where the object is a delegate
    bool delegates = false;                    // some route does
    std::vector<config::Diagnostic> problems;  // with delegates' routes
  };

  // Brings `made` to what the object is now, and notes what that changes.
  void Update(const config::ConfigPtr& object, const config::ObjectStore& store, Made* made, Change* change,
              std::vector<config::Diagnostic>* diagnostics) const;
  void Make(const config::ConfigPtr& root, DelegateList delegates, Made* made) const;
  // The delegates of the routes of `root` that name one, null for those that cannot be used.
  DelegateList FindDelegates(const config::ConfigPtr& root, const config::ObjectStore& store,
                             std::vector<config::Diagnostic>* diagnostics) const;
  config::ConfigPtr FindDelegate(const config::ConfigPtr& root,
                                 const istio::networking::v1alpha3::HTTPRoute& route, int position,
                                 const config::ObjectStore& store,
                                 std::vector<config::Diagnostic>* diagnostics) const;
  // True where what was made of objects does not hold any more.
  bool ApplySettings(const model::Settings& settings);
  static void ChangeLists(const Change& change, VirtualServiceIndex* index);
  static void ChangeOfMesh(const Change& change, VirtualServiceIndex* index);

  std::string domain_;
  std::vector<std::string> default_export_to_;
  std::vector<Made> made_;  // by namespace and name, as the store has them
  std::shared_ptr<const VirtualServiceIndex> last_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIRTUAL_SERVICE_INDEX_H_
