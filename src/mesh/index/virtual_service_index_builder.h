#ifndef FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_BUILDER_H_
#define FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_BUILDER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/index/snapshot.h"
#include "mesh/index/sorted_list.h"
#include "model/settings.h"

namespace istio::networking::v1alpha3 {
class HTTPRoute;
}  // namespace istio::networking::v1alpha3

namespace fairlead::mesh {

// Makes VirtualServiceIndexes. Keeps what it made, so that a VirtualService whose object, delegates and
// defaults did not change keeps its pointer, and what lists only such is shared with the last index. A value:
// copies share what they keep.
class VirtualServiceIndexBuilder {
 public:
  // `before`: the store of the last call; an empty one at first. Of what the two have in common only objects
  // that delegate are looked at.
  std::shared_ptr<const VirtualServiceIndex> Build(const config::ObjectStore& store,
                                                   const config::ObjectStore& before,
                                                   const model::Settings& settings,
                                                   std::vector<config::Diagnostic>* diagnostics);

 private:
  using Name = std::pair<Interned, Interned>;
  using DelegateList = std::vector<config::ConfigPtr>;
  using Change = ListChange<VirtualServicePtr>;

  struct BuiltService {
    config::ConfigPtr object;
    VirtualServicePtr virtual_service;         // null where the object is a delegate
    bool delegates = false;                    // some route does
    std::vector<config::Diagnostic> problems;  // of delegates' routes
    std::vector<config::Diagnostic> missing;   // delegates that cannot be used
  };

  // What is made of an object now, and what that changes. A null object: nothing.
  void Update(const Name& name, const config::ConfigPtr& object, const config::ObjectStore& store,
              Change* change);
  BuiltService MakeOrKeep(const config::ConfigPtr& object, const config::ObjectStore& store,
                          const BuiltService* before) const;
  void Make(DelegateList delegates, BuiltService* out) const;
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
  ShardedMap<Name, BuiltService> built_;
  SortedMap<Name, config::ConfigPtr> delegating_;  // the objects that delegate
  std::shared_ptr<const VirtualServiceIndex> last_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_VIRTUAL_SERVICE_INDEX_BUILDER_H_
