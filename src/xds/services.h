#ifndef FAIRLEAD_XDS_SERVICES_H_
#define FAIRLEAD_XDS_SERVICES_H_

#include <array>
#include <string_view>

#include "xds/types.h"

namespace fairlead::xds {

// A discovery service of one type, as Envoy's API names it and its methods. A missing method is "". Source:
// envoy/service/*/v3/*.proto
struct ServiceInfo {
  TypeId type;
  std::string_view service;  // "envoy.service.cluster.v3.ClusterDiscoveryService"
  std::string_view stream;   // state of the world
  std::string_view delta;
  std::string_view fetch;  // one request, one response
  std::string_view rest;   // the path of fetch as REST: "/v3/discovery:clusters"
};

inline constexpr size_t kServiceCount = 7;
extern const std::array<ServiceInfo, kServiceCount> kServices;

inline constexpr std::string_view kAggregatedService =
    "envoy.service.discovery.v3.AggregatedDiscoveryService";

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_SERVICES_H_
