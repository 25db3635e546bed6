#ifndef FAIRLEAD_GEN_ROUTE_ROUTE_OPTIONS_H_
#define FAIRLEAD_GEN_ROUTE_ROUTE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/labels.h"
#include "base/strings.h"
#include "gen/route/hash_policy.h"

namespace istio::networking::v1alpha3 {
class Destination;
class HTTPRetry;
}  // namespace istio::networking::v1alpha3

namespace fairlead::gen::route {

// The facts about listener, client and mesh that the translation of a VirtualService's HTTP routes needs.
// Sidecars and gateways fill it in their own ways. Views must outlive the call.
struct RouteOptions {
  uint32_t port = 0;                        // of the listener
  bool tls = false;                         // the listener terminates TLS
  bool http3 = false;                       // an alt-svc header tells clients of HTTP/3
  bool proxyless = false;                   // a gRPC library reads the routes
  bool append_x_forwarded_host = false;     // on routes that rewrite (ProxyHeaders.xForwardedHost)
  std::string_view client_namespace;        // sourceNamespace of a match
  const LabelMap* client_labels = nullptr;  // sourceLabels of a match; null for none
  const StringSet* gateways = nullptr;      // that the listener serves: "mesh" for sidecars
  const istio::networking::v1alpha3::HTTPRetry* default_retries = nullptr;  // the mesh's; null for Istio's

  bool mirror_as_is = true;  // hosts of mirrored requests get no suffix (model::Features)

  // The cluster of a destination; the name must come out whether there is such a cluster or not.
  std::function<std::string(const istio::networking::v1alpha3::Destination&)> cluster_of;
  // How clients of a destination's service name the endpoint of their session: see SessionOf. Null: not
  // asked.
  std::function<std::string(const istio::networking::v1alpha3::Destination&)> session_of;
  // The hash policy of a destination; null for none.
  std::function<const ConsistentHash*(const istio::networking::v1alpha3::Destination&)> hash_of;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_ROUTE_OPTIONS_H_
