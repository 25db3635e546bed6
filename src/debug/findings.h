#ifndef FAIRLEAD_DEBUG_FINDINGS_H_
#define FAIRLEAD_DEBUG_FINDINGS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "debug/finders.h"
#include "debug/pages.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"

namespace fairlead::debug {

// What istiod finds while it pushes (pilot_eds_no_instances and its like, /debug/push_status), found when
// somebody asks: serving proxies costs nothing. What was found in a part of the mesh is kept for as long as
// that part lives and is looked at again by the next call. Thread-safe.
// Source: Istio, pilot/pkg/model/push_context.go.
class Findings {
 public:
  // In the snapshot that is served, and in what the connected proxies see of it; nothing before the first.
  std::vector<Finding> Find(const Sources& sources);

 private:
  template <typename Part>
  using Memory =
      std::map<std::weak_ptr<const Part>, std::vector<Finding>, std::owner_less<std::weak_ptr<const Part>>>;

  std::mutex mutex_;
  Memory<mesh::MeshSnapshot> of_mesh_;  // guarded by mutex_, as the others are
  // What workloads of a kind see, those whose proxies answer DNS apart.
  Memory<mesh::SidecarScope> of_scopes_, of_scopes_with_dns_;
  Memory<mesh::MergedGateway> of_gateways_;
};

// Brings the metrics of what is found up to date (gauges under istiod's names; by Gateway
// pilot_total_rejected_configs). To be called before they are shown.
void UpdateFindingMetrics(const Sources& sources);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_FINDINGS_H_
