#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_

#include <mutex>
#include <optional>
#include <vector>

#include "config/store.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "mesh/snapshot.h"

namespace fairlead::gateway_api {

// The statuses of a mesh that changes, computed when they are asked for and off the mesh's own thread. Keeps
// a translation of its own, so that each call costs what changed since the last one, and the statuses
// themselves. Thread-safe.
class StatusBoard {
 public:
  // `snapshot` is the mesh that `objects` make, or a little older or newer: the next call is right.
  std::vector<StatusOf> Statuses(const config::ObjectStore& objects, const mesh::MeshSnapshot& snapshot);

 private:
  std::mutex mutex_;                        // guards what follows
  std::optional<Translation> translation_;  // none before the first call
  config::ObjectStore seen_;                // the objects of the last call
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_BOARD_H_
