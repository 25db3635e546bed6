#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sorted_map.h"
#include "config/diagnostic.h"
#include "config/store.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "gateway_api/status/route_relations.h"
#include "gateway_api/status/status_view.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "mesh/index/snapshot.h"
#include "state/mesh.h"

namespace fairlead::gateway_api {

// In the order in which statuses are listed.
struct StatusKey {
  std::string_view kind;  // its name
  Interned ns, name;
  friend bool operator==(const StatusKey&, const StatusKey&) = default;
  friend bool operator<(const StatusKey& a, const StatusKey& b) {
    return std::tie(a.kind, a.ns, a.name) < std::tie(b.kind, b.ns, b.name);
  }
};
// Those of a mesh. A copy costs one pointer; what differs between two is found at the cost of what differs.
using Statuses = SortedMap<StatusKey, std::shared_ptr<const StatusOf>>;

// The statuses of a mesh that changes, with what proxies make of its objects. A mesh's derivation hands over
// what it came to (OnPublished); whoever writes or shows statuses asks for them, on its own thread. Each
// status is kept with what it was made from, so that only those are made again of which something changed:
// the cost is that of the change.
// Thread-safe.
class StatusBoard {
 public:
  // `conditions`: what diagnostics of proxies become.
  explicit StatusBoard(std::vector<VerdictCondition> conditions = {}) : conditions_(std::move(conditions)) {}

  // `mesh` as it is now, with a GatewayApiDerivation among its steps. Costs little, whether or not anybody
  // asks.
  void OnPublished(const state::Mesh& mesh);
  // What is wrong with objects by what proxies say, in place of what was said before. Only objects of the
  // control plane's own cluster have statuses.
  void SetVerdicts(std::vector<config::Diagnostic> verdicts);
  // Of which objects there are statuses: at first those of the revision named default.
  void SetOwnRevisions(OwnRevisions own);
  // As they are now; none before the first mesh.
  Statuses Current();
  bool empty() const;  // whether there is no mesh yet
  // How many statuses were made so far.
  uint64_t made() const;

 private:
  using Dirty = std::set<config::ObjectKey>;
  using Verdicts = std::map<config::ObjectKey, std::vector<config::Diagnostic>>;

  Dirty FindDirty(const StatusMoment& now);
  void CompareOwners(const StatusMoment& before, const StatusMoment& now, Dirty* dirty) const;
  void CompareRoutes(const StatusMoment& before, const StatusMoment& now);
  void CompareAddresses(const StatusMoment& before, const StatusMoment& now, Dirty* dirty);
  void TakeOwn(OwnRevisions own, Dirty* dirty);
  void CompareVerdicts(std::vector<config::Diagnostic> verdicts, Dirty* dirty);
  void Update(const config::ObjectKey& key);

  const std::vector<VerdictCondition> conditions_;
  mutable std::mutex input_mutex_;    // guards what follows, each time for a moment
  std::optional<StatusMoment> next_;  // the newest, where it has not been looked at
  std::optional<std::vector<config::Diagnostic>> next_verdicts_;
  std::optional<OwnRevisions> next_own_;
  bool any_ = false;

  mutable std::mutex mutex_;          // guards what follows; locked before input_mutex_
  std::optional<StatusMoment> seen_;  // that current_ is of
  Verdicts verdicts_;
  OwnRevisions own_ = OwnRevisionsOf(kRevision);
  RouteRelations relations_;
  std::map<config::ObjectKey, nlohmann::ordered_json> addresses_;
  Readers readers_;  // whose status asked what
  Statuses current_;
  uint64_t made_ = 0;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_
