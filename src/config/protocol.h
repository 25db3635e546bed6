#ifndef FAIRLEAD_CONFIG_PROTOCOL_H_
#define FAIRLEAD_CONFIG_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::config {

// A port's protocol as Istio's protocol selection sees it. kUnsupported is sniffed (auto-detected).
// Source: istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection
enum class Protocol : uint8_t {
  kUnsupported,
  kHttp,
  kHttp2,
  kHttps,
  kGrpc,
  kGrpcWeb,
  kTcp,
  kTls,
  kUdp,
  kMongo,
  kRedis,
  kMySql,
  kHbone,
  kHttpProxy,
};

// "HTTP", "gRPC-Web", "tls" … by name in any case; kUnsupported for anything else.
Protocol ParseProtocol(std::string_view name);

// The protocol of a Kubernetes Service port: appProtocol first, then the name's prefix up to "-", then
// port-based defaults (Istio: kube.ConvertProtocol).
Protocol KubernetesPortProtocol(int port, std::string_view port_name, std::string_view transport,
                                const std::optional<std::string>& app_protocol);

bool IsHttp(
    Protocol p);  // HTTP, HTTP2, HTTP_PROXY, GRPC, GRPC-Web: anything routed by an HTTP connection manager
bool IsHttp2(Protocol p);  // HTTP2, GRPC, GRPC-Web
bool IsTcp(Protocol p);    // TCP, HTTPS, TLS, Mongo, Redis, MySQL
bool IsTls(Protocol p);    // HTTPS, TLS
std::string_view ToString(
    Protocol p);  // Istio's spelling: "HTTP", "HTTP2", "GRPC", "TCP", "UnsupportedProtocol"

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_PROTOCOL_H_
