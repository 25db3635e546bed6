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

// The inputs of a forward besides the route.
struct ForwardRequest {
  mesh::View& view;
  const ProxyTraits& traits;
  ListenPort port;
};

// To where a VirtualService's TCP or TLS route says. nullopt where no destination has a weight.
// Source: Istio's buildOutboundNetworkFilters.
std::optional<TcpForward> ForwardByRoute(const ForwardRequest& request, const RouteDestinations& destinations,
                                         const mesh::VirtualService& virtual_service);
// For a gateway that passes mutual TLS through: to the cluster with the client's SNI as its name.
TcpForward ForwardBySni(const ForwardRequest& request, const model::Service& service,
                        const model::ServicePort& port, std::string_view subset);
// To the service itself.
TcpForward ForwardToService(const L4Request& request);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_TCP_FORWARD_H_
