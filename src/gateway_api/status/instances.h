#ifndef FAIRLEAD_GATEWAY_API_STATUS_INSTANCES_H_
#define FAIRLEAD_GATEWAY_API_STATUS_INSTANCES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway_api/condition.h"
#include "mesh/index/service_index.h"
#include "model/endpoint.h"

namespace fairlead::gateway_api {

// The port of a listener. Only a UDP port of a Service leads to one of UDP; to others any, as in Istio.
struct InstancePort {
  int64_t number = 0;
  bool udp = false;
  friend auto operator<=>(const InstancePort&, const InstancePort&) = default;
};

// Where the proxies of a Gateway can be reached, by its Services. Lists are sorted.
struct GatewayInstances {
  std::vector<std::string> internal;      // "host:port" where there are endpoints
  std::vector<std::string> internal_ips;  // virtual IPs of those Services
  std::vector<std::string> external;      // addresses outside of the cluster
  std::vector<std::string> pending;       // hosts of load balancers that have no address yet
  std::vector<std::string> warnings;      // for people
  bool all_usable = true;
};

// A host that proxies may be reached by.
struct InstanceHost {
  std::string hostname;
  mesh::ServiceIndex::List services;     // that have it, one a namespace; null: there are none
  model::ServiceEndpointsPtr endpoints;  // of the Gateway's namespace; null: there are none
};
// `ns`: the Gateway's.
GatewayInstances ResolveInstances(const std::vector<InstanceHost>& hosts, const Interned& ns,
                                  const std::set<InstancePort>& ports);

// The condition Programmed of a Gateway or ListenerSet.
void SetProgrammed(const GatewayInstances& instances, const std::vector<std::string>& services,
                   DraftConditions* conditions);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_INSTANCES_H_
