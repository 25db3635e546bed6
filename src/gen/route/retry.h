#ifndef FAIRLEAD_GEN_ROUTE_RETRY_H_
#define FAIRLEAD_GEN_ROUTE_RETRY_H_

namespace envoy::config::route::v3 {
class RouteAction;
}
namespace istio::networking::v1alpha3 {
class HTTPRetry;
}

namespace fairlead::gen::route {

// The retries of an outbound route: a VirtualService's or the mesh's policy, Istio's default where `policy`
// is null, none where it asks for no attempts. With consistent hashing a retry does not avoid the host that
// failed. Pure. Source: Istio's retry.ConvertPolicy.
void BuildRetryPolicy(const istio::networking::v1alpha3::HTTPRetry* policy, bool consistent_hash,
                      envoy::config::route::v3::RouteAction* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_RETRY_H_
