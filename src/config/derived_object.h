#ifndef FAIRLEAD_CONFIG_DERIVED_OBJECT_H_
#define FAIRLEAD_CONFIG_DERIVED_OBJECT_H_

#include <string_view>

// What objects that were made of Gateway API and Ingress objects say of those, in annotations that users may
// not write. Source: Istio's pkg/config/constants and its annotations.
namespace fairlead::config {

// KIND/NAME.NAMESPACE, separated by commas: of what the object was made.
inline constexpr std::string_view kParentsAnnotation = "internal.istio.io/parents";
// The namespace of the Gateway that a ListenerSet belongs to, where that is another than its own.
inline constexpr std::string_view kParentNamespaceAnnotation = "internal.istio.io/parent-namespace";
// The service account of the Gateway's workloads.
inline constexpr std::string_view kServiceAccountAnnotation = "internal.istio.io/service-account-name";
// Host names of the services whose workloads a Gateway is for, separated by commas.
inline constexpr std::string_view kGatewayServiceAnnotation = "internal.istio.io/gateway-service";
// Whose rules count: kGatewaySemantics, kIngressSemantics or, without it, Istio's own.
inline constexpr std::string_view kRouteSemanticsAnnotation = "internal.istio.io/route-semantics";
inline constexpr std::string_view kGatewaySemanticsAnnotation = "internal.istio.io/gateway-semantics";
inline constexpr std::string_view kGatewaySemantics = "gateway";
inline constexpr std::string_view kIngressSemantics = "ingress";
// A label: what a Service stands for.
inline constexpr std::string_view kServiceSemanticsLabel = "internal.istio.io/service-semantics";
inline constexpr std::string_view kInferencePoolSemantics = "inferencepool";
// Of a VirtualService that was made of HTTPRoutes: the endpoint pickers of its routes to InferencePools, a
// line each: "NAME HOST PORT open" or "… closed", by what a failing picker comes to. Fairlead's own.
inline constexpr std::string_view kEndpointPickersAnnotation = "internal.istio.io/endpoint-pickers";
// Of a Gateway: routes to InferencePools name the one that it was made of. Fairlead's own.
inline constexpr std::string_view kInferencePoolsAnnotation = "internal.istio.io/inference-pools";
// Of a Pod that is made for a Gateway's proxy which has none: the proxy is found by the Pod's address,
// whatever it calls itself. Fairlead's own.
inline constexpr std::string_view kStandInAnnotation = "internal.istio.io/stands-for-a-proxy";

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_DERIVED_OBJECT_H_
