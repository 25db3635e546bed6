#ifndef FAIRLEAD_PUSH_PUBLISH_PREVIEW_H_
#define FAIRLEAD_PUSH_PUBLISH_PREVIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mesh/index/snapshot.h"
#include "push/stream/pusher.h"
#include "push/stream/stream_report.h"
#include "xds/resource_set.h"
#include "xds/types.h"

namespace fairlead::push {

// What one connected proxy would be sent if the mesh went from one snapshot to another.
struct Preview {
  struct OfType {
    xds::TypeId type;
    xds::DifferencePtr difference;  // never empty
  };
  uint64_t stream = 0;        // StreamReport::number
  std::string connection;     // StreamReport::connection
  std::vector<OfType> types;  // in which something differs, in the order of the types' table
};

// The preview of one stream. `types` is empty where nothing differs.
Preview PreviewOf(ResourceMaker& maker, const StreamReport& report, const mesh::SnapshotPtr& from,
                  const mesh::SnapshotPtr& to);

// The previews of all connected proxies that would be sent anything, by connection name. A proxy is taken to
// ask for what its resources would refer to. Nothing is sent, and no stream waits for it. What is made stays
// in the maker's caches: should the change be published, it is there already. Thread-safe.
std::vector<Preview> PreviewAll(const Pusher& pusher, const mesh::SnapshotPtr& from,
                                const mesh::SnapshotPtr& to);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_PREVIEW_H_
