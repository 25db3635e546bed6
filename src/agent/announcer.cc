#include "agent/announcer.h"

#include <utility>

#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::agent {
namespace {

// The smallest thing to ask for: without a subscription there is no proxy.
constexpr char kType[] = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";
constexpr char kHealthType[] = "type.googleapis.com/istio.v1.HealthInformation";

LastingStreamOptions StreamOf(AnnouncerOptions options) {
  LastingStreamOptions stream{
      .control_plane = std::move(options.control_plane), .node = std::move(options.node), .type = kType};
  stream.taken = [progress = options.progress] { progress(absl::OkStatus()); };
  stream.ended = [progress = std::move(options.progress)](const absl::Status& why) {
    progress(why.ok() ? absl::UnavailableError("the control plane has ended the stream") : why);
  };
  return stream;
}

}  // namespace

Announcer::Announcer(AnnouncerOptions options) : stream_(StreamOf(std::move(options))) {}

// The request is no subscription: an error in it means a workload that is not healthy.
void Announcer::SetHealth(const absl::Status& health) {
  envoy::service::discovery::v3::DiscoveryRequest request;
  request.set_type_url(kHealthType);
  if (!health.ok()) {
    request.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    request.mutable_error_detail()->set_message(std::string(health.message()));
  }
  stream_.Tell(request);
}

}  // namespace fairlead::agent
