#ifndef FAIRLEAD_MESH_VIEW_TEST_SCOPE_H_
#define FAIRLEAD_MESH_VIEW_TEST_SCOPE_H_

#include <memory>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy_class.h"

namespace fairlead::mesh {

// For tests: what a workload of `ns` with these labels sees; `type` kRouter: a router.
inline SidecarScopePtr ScopeFor(const MeshSnapshot& snapshot, std::string_view ns,
                                const LabelMap& labels = {},
                                model::ProxyType type = model::ProxyType::kSidecar) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->type = type;
  proxy->id = StrCat("client.", ns);
  proxy->ns = proxy->metadata.ns = ns;
  proxy->ip_addresses = {"10.99.99.99"};
  proxy->metadata.cluster_id = snapshot.settings->cluster_id;
  proxy->metadata.labels = labels;
  proxy->proxy_class = model::ClassOf(*proxy);
  return ComputeProxyScope(snapshot, std::move(proxy))->sidecar;
}

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_TEST_SCOPE_H_
