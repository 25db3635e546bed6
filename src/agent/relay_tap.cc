#include "agent/relay_tap.h"

#include "base/log.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::agent {
namespace {

namespace discovery = envoy::service::discovery::v3;

LogScope relay_log("xdsproxy");

bool Parse(std::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// `resource`: null for none.
template <typename Request>
std::string Reply(const RelayTap& tap, const google::protobuf::Any* resource, Request reply) {
  reply.set_type_url(tap.type);
  absl::Status status;
  if (resource != nullptr && resource->type_url() != tap.type)
    status = absl::InvalidArgumentError(StrCat("a resource of type ", resource->type_url()));
  if (resource != nullptr && status.ok()) status = tap.take(resource->value());
  if (!status.ok()) {
    relay_log.Error("{} is refused, the last good one stays: {}", tap.type, std::string(status.message()));
    reply.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    reply.mutable_error_detail()->set_message(std::string(status.message()));
  }
  return reply.SerializeAsString();
}

}  // namespace

std::string TapRequest(const RelayTap& tap, bool delta) {
  discovery::DiscoveryRequest whole;
  discovery::DeltaDiscoveryRequest difference;
  whole.set_type_url(tap.type);
  difference.set_type_url(tap.type);
  return delta ? difference.SerializeAsString() : whole.SerializeAsString();
}

std::string TakeTapped(const RelayTap& tap, bool delta, std::string_view response) {
  if (delta) {
    discovery::DeltaDiscoveryResponse parsed;
    discovery::DeltaDiscoveryRequest reply;
    Parse(response, &parsed);
    reply.set_response_nonce(parsed.nonce());
    return Reply(tap, parsed.resources().empty() ? nullptr : &parsed.resources(0).resource(), reply);
  }
  discovery::DiscoveryResponse parsed;
  discovery::DiscoveryRequest reply;
  Parse(response, &parsed);
  reply.set_response_nonce(parsed.nonce());
  reply.set_version_info(parsed.version_info());
  return Reply(tap, parsed.resources().empty() ? nullptr : &parsed.resources(0), reply);
}

}  // namespace fairlead::agent
