#ifndef FAIRLEAD_GEN_ROUTE_CORS_H_
#define FAIRLEAD_GEN_ROUTE_CORS_H_

namespace envoy::extensions::filters::http::cors::v3 {
class CorsPolicy;
}
namespace istio::networking::v1alpha3 {
class CorsPolicy;
}

namespace fairlead::gen::route {

// Pure. Source: Istio's TranslateCORSPolicy.
void BuildCorsPolicy(const istio::networking::v1alpha3::CorsPolicy& policy,
                     envoy::extensions::filters::http::cors::v3::CorsPolicy* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_CORS_H_
