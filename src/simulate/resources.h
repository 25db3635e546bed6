#ifndef FAIRLEAD_SIMULATE_RESOURCES_H_
#define FAIRLEAD_SIMULATE_RESOURCES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"

namespace fairlead::simulate {

// The decoded resources of one proxy. Load assignments are by cluster_name, everything else by name.
struct ProxyResources {
  std::vector<envoy::config::listener::v3::Listener> listeners;
  std::map<std::string, envoy::config::route::v3::RouteConfiguration, std::less<>> routes;
  std::map<std::string, envoy::config::cluster::v3::Cluster, std::less<>> clusters;
  std::map<std::string, envoy::config::endpoint::v3::ClusterLoadAssignment, std::less<>> endpoints;

  // Decodes one resource as it is on the wire. InvalidArgument where it is of another type or broken.
  absl::Status Add(const google::protobuf::Any& resource);
};

// The generators' resources for a proxy that asks like Envoy: all clusters and listeners, and the endpoints
// and routes that these name.
ProxyResources ResourcesOf(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_RESOURCES_H_
