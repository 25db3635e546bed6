#ifndef FAIRLEAD_GEN_ROUTE_PATCHED_H_
#define FAIRLEAD_GEN_ROUTE_PATCHED_H_

#include "gen/patch/pool.h"
#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace google::protobuf {
class Arena;
}
namespace envoy::config::route::v3 {
class RouteConfiguration;
}

namespace fairlead::gen::route {

// The route configuration that BuildOutboundRouteConfiguration makes, as a message on the arena, after its
// patches. `hosts`: as there. The outcome of the patches is reported.
envoy::config::route::v3::RouteConfiguration* PatchedRouteConfiguration(const patch::Patched<Inputs>& inputs,
                                                                        const VirtualHosts& hosts,
                                                                        google::protobuf::Arena* arena);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_PATCHED_H_
