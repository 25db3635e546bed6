#ifndef FAIRLEAD_PUSH_STREAM_INSPECTION_H_
#define FAIRLEAD_PUSH_STREAM_INSPECTION_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/peer_identity.h"
#include "push/stream/authorizer.h"
#include "xds/response.h"

namespace fairlead::push {

// The types by which istioctl and its like ask for what the control plane knows, in place of configuration.
inline constexpr std::string_view kInspectionPrefix = "istio.io/";

struct Inspection {
  std::string type_url;  // "istio.io/debug", "istio.io/debug/syncz"
  std::vector<std::string> names;
  StreamPeer peer;
  std::optional<model::PeerIdentity> identity;
};

// Answers one; a status ends the stream. Called on the pusher's threads.
using Inspector = std::function<absl::StatusOr<std::vector<xds::PlainResource>>(const Inspection&)>;

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_INSPECTION_H_
