#include "gen/route/patched.h"

#include <google/protobuf/arena.h>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/patch/apply.h"
#include "gen/route/build.h"

namespace fairlead::gen::route {

envoy::config::route::v3::RouteConfiguration* PatchedRouteConfiguration(const patch::Patched<Inputs>& inputs,
                                                                        const VirtualHosts& hosts,
                                                                        google::protobuf::Arena* arena) {
  using envoy::config::route::v3::RouteConfiguration;
  auto* message = google::protobuf::Arena::CreateMessage<RouteConfiguration>(arena);
  message->ParseFromString(BuildOutboundRouteConfiguration(inputs.inputs, hosts));
  patch::PatchOutcome outcome;
  patch::PatchRoutes(*inputs.patches, nullptr, message, &outcome);
  outcome.Report();
  return message;
}

}  // namespace fairlead::gen::route
