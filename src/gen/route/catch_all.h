#ifndef FAIRLEAD_GEN_ROUTE_CATCH_ALL_H_
#define FAIRLEAD_GEN_ROUTE_CATCH_ALL_H_

#include <cstdint>
#include <string>

namespace envoy::config::route::v3 {
class VirtualHost;
}

namespace fairlead::gen::route {

// The treatment of requests for hosts without a virtual host. Source: OutboundTrafficPolicy.Mode.
enum class CatchAllMode : uint8_t { kBlackHole, kPassthrough, kDynamicDns };

struct CatchAll {
  CatchAllMode mode = CatchAllMode::kPassthrough;
  std::string cluster = "PassthroughCluster";  // of kPassthrough: this one, or the egress proxy's
  bool include_attempt_count = true;           // ProxyHeaders.attemptCount
  bool append_x_forwarded_host = false;        // ProxyHeaders.xForwardedHost

  friend bool operator==(const CatchAll&, const CatchAll&) = default;
};

// The virtual host "*" at the end of every outbound HTTP route configuration. Pure.
// Source: Istio's buildCatchAllVirtualHost.
void BuildCatchAllVirtualHost(const CatchAll& policy, envoy::config::route::v3::VirtualHost* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_CATCH_ALL_H_
