#ifndef FAIRLEAD_GEN_ROUTE_ROUTE_NAME_H_
#define FAIRLEAD_GEN_ROUTE_ROUTE_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::gen::route {

// The meaning of a sidecar's route configuration name.
struct RouteName {
  enum class Kind : uint8_t {
    kUnknown,  // no listener of ours asks for it
    kPort,     // "80": all HTTP hosts of a port
    kProxy,    // "http_proxy" or "unix:///path": hosts of all ports, for clients that know they use a proxy
    kSniffed,  // "reviews.default.svc.cluster.local:7000": one host, behind a listener that detects HTTP
  };
  Kind kind = Kind::kUnknown;
  uint32_t port = 0;
  std::string_view host;  // of kSniffed; a view into the name
};

RouteName ParseRouteName(std::string_view name);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_ROUTE_NAME_H_
