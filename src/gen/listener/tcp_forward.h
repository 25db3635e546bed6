#ifndef FAIRLEAD_GEN_LISTENER_TCP_FORWARD_H_
#define FAIRLEAD_GEN_LISTENER_TCP_FORWARD_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <optional>
#include <string>

#include "gen/listener/outbound_routes.h"

namespace istio::networking::v1alpha3 {
class RouteDestination;
}

namespace fairlead::gen::listener {

using RouteDestinations = google::protobuf::RepeatedPtrField<istio::networking::v1alpha3::RouteDestination>;

// To where a VirtualService's TCP or TLS route says. nullopt where no destination has a weight.
// Source: Istio's buildOutboundNetworkFilters.
std::optional<TcpForward> ForwardByRoute(const L4Request& request, const RouteDestinations& destinations,
                                         const mesh::VirtualService& virtual_service);
// To the service itself.
TcpForward ForwardToService(const L4Request& request);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_TCP_FORWARD_H_
