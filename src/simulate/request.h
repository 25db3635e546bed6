#ifndef FAIRLEAD_SIMULATE_REQUEST_H_
#define FAIRLEAD_SIMULATE_REQUEST_H_

#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::simulate {

// The direction of a connection through the proxy: from the workload beside it, or to it.
enum class CallDirection : uint8_t { kOutbound, kInbound, kGateway };

std::string_view NameOf(CallDirection direction);  // "outbound", "inbound", "gateway"

// The content of the connection, inside of TLS if there is TLS.
enum class Application : uint8_t { kHttp10, kHttp11, kHttp2, kTcp };

// A TLS handshake as the peer starts it.
struct Tls {
  std::string server_name;          // SNI; "" for none
  std::vector<std::string> alpn;    // as offered, in order
  bool client_certificate = false;  // whether the peer shows one that the mesh trusts
};

// One request, or one connection of another protocol: what the simulation sends. A plain value.
struct SimulatedRequest {
  CallDirection direction = CallDirection::kOutbound;
  std::string source_address;  // IP of the peer; "" for the proxy's own workload
  uint32_t source_port = 40000;
  // The original destination, as it was before the connection was redirected to the proxy.
  std::string destination_address;  // an IP
  uint32_t destination_port = 0;
  std::optional<Tls> tls;
  // The peer's identity by its certificate ("spiffe://cluster.local/ns/shop/sa/web"); "" if unknown. It
  // counts where mutual TLS ends at the proxy.
  std::string identity;
  Application application = Application::kHttp11;

  std::string method = "GET";
  std::string scheme = "http";
  std::string authority;   // the Host header; with its port where the client sends that
  std::string path = "/";  // with the query
  // In order; names in lower case. Values of one name count joined by ",", as in Envoy.
  std::vector<std::pair<std::string, std::string>> headers;

  // Claims of a token that is there wherever the proxy looks for one, and is signed as it should be. Nothing:
  // tokens are in headers, cookies and parameters, if at all.
  std::optional<google::protobuf::Struct> claims;
  int64_t time = 0;  // seconds since 1970, for tokens that expire

  // The assumed findings of filters before the router, by filter: {"envoy.filters.http.jwt_authn": {…}}.
  google::protobuf::Struct metadata;
  // Stands for Envoy's random number where a route holds for a share of the requests: it holds if the share,
  // in percent, is above this.
  double draw = 0;

  bool is_http() const { return application != Application::kTcp; }
  // The header's values joined by ","; pseudo headers (":path", …) too. Nothing where it is missing.
  std::optional<std::string> Header(std::string_view name) const;
};

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_REQUEST_H_
