#ifndef FAIRLEAD_SIMULATE_ROUTE_CHANGES_H_
#define FAIRLEAD_SIMULATE_ROUTE_CHANGES_H_

#include <vector>

#include "envoy/config/route/v3/route.pb.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

// The changes of a route to a request, besides the choice of a cluster.
namespace fairlead::simulate {

// Header changes in the order in which they apply: of a route, a virtual host, a route configuration, or a
// cluster of a split.
template <typename Source>
void AddHeaderChanges(const Source& source, std::vector<Fact>* out);

// Path, host, timeouts, retries, mirrors and hash policies of a route that forwards.
void AddForwardingChanges(const envoy::config::route::v3::RouteConfiguration& configuration,
                          const envoy::config::route::v3::VirtualHost& host,
                          const envoy::config::route::v3::Route& route, const SimulatedRequest& request,
                          std::vector<Fact>* out);

extern template void AddHeaderChanges(const envoy::config::route::v3::RouteConfiguration&,
                                      std::vector<Fact>*);
extern template void AddHeaderChanges(const envoy::config::route::v3::VirtualHost&, std::vector<Fact>*);
extern template void AddHeaderChanges(const envoy::config::route::v3::Route&, std::vector<Fact>*);
extern template void AddHeaderChanges(const envoy::config::route::v3::WeightedCluster::ClusterWeight&,
                                      std::vector<Fact>*);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_ROUTE_CHANGES_H_
