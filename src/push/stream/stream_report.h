#ifndef FAIRLEAD_PUSH_STREAM_STREAM_REPORT_H_
#define FAIRLEAD_PUSH_STREAM_STREAM_REPORT_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mesh/view/proxy_scope.h"
#include "xds/stream_core.h"

namespace fairlead::push {

using WallTime = std::chrono::system_clock::time_point;

// When something of a type last happened on a stream; the epoch where it has not.
struct TypeTimes {
  WallTime sent{}, acked{}, nacked{};
  WallTime behind{};  // since when the client goes on without something that it refused
};

// One stream at a moment, for introspection: a copy that shares the resources.
struct StreamReport {
  uint64_t number = 0;     // counts the streams of the process
  std::string connection;  // "reviews-v1-1.default-7"
  std::string peer;        // "ipv4:10.0.0.1:43210"
  std::string track;       // that it follows: "live", or another's name
  WallTime connected_at{};
  xds::Framing framing = xds::Framing::kStateOfTheWorld;
  std::optional<xds::TypeId> only;  // of a stream of one type
  mesh::ProxyScopePtr scope;        // the proxy in the snapshot that it is being brought to; never null

  struct OfType {
    xds::TypeStatus status;
    TypeTimes times;
  };
  std::array<OfType, xds::kTypeCount> types;
  struct OfObjects {
    std::string url;
    OfType of_type;
  };
  std::vector<OfObjects> objects;  // the types of objects that it asks for (see object_types.h)

  const OfType& Of(xds::TypeId type) const { return types[static_cast<size_t>(type)]; }
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_STREAM_REPORT_H_
