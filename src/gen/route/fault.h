#ifndef FAIRLEAD_GEN_ROUTE_FAULT_H_
#define FAIRLEAD_GEN_ROUTE_FAULT_H_

namespace envoy::extensions::filters::http::fault::v3 {
class HTTPFault;
}
namespace istio::networking::v1alpha3 {
class HTTPFaultInjection;
}

namespace fairlead::gen::route {

// A route's fault injection as the configuration of the fault filter. Kinds that Envoy lacks (exponential
// delays, HTTP/2 errors) are left out. Pure. Source: Istio's TranslateFault.
void BuildFault(const istio::networking::v1alpha3::HTTPFaultInjection& fault,
                envoy::extensions::filters::http::fault::v3::HTTPFault* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_FAULT_H_
