#include "config/protocol.h"

#include <array>
#include <utility>

#include "base/strings.h"

namespace fairlead::config {
namespace {

struct Spelling {
  Protocol protocol;
  std::string_view name;  // as Istio prints it
};
constexpr std::array kSpellings = {
    Spelling{Protocol::kTcp, "TCP"},     Spelling{Protocol::kUdp, "UDP"},
    Spelling{Protocol::kGrpc, "GRPC"},   Spelling{Protocol::kGrpcWeb, "GRPC-Web"},
    Spelling{Protocol::kHttp, "HTTP"},   Spelling{Protocol::kHttpProxy, "HTTP_PROXY"},
    Spelling{Protocol::kHttp2, "HTTP2"}, Spelling{Protocol::kHttps, "HTTPS"},
    Spelling{Protocol::kTls, "TLS"},     Spelling{Protocol::kMongo, "Mongo"},
    Spelling{Protocol::kRedis, "Redis"}, Spelling{Protocol::kMySql, "MySQL"},
};

// Ports whose protocol has the server speak first: sniffing them would stall, so that TCP is the default.
bool IsServerFirstPort(int port) {
  constexpr int kSmtp = 25, kDns = 53, kMySql = 3306, kMongoDb = 27017;
  return port == kSmtp || port == kDns || port == kMySql || port == kMongoDb;
}

}  // namespace

Protocol ParseProtocol(std::string_view name) {
  for (const Spelling& spelling : kSpellings) {
    if (EqualsIgnoreCase(name, spelling.name)) return spelling.protocol;
  }
  return Protocol::kUnsupported;
}

Protocol KubernetesPortProtocol(int port, std::string_view port_name, std::string_view transport,
                                const std::optional<std::string>& app_protocol) {
  if (transport == "UDP") return Protocol::kUdp;
  std::string_view name = port_name;
  if (app_protocol) {
    name = *app_protocol;
    // The names of the Kubernetes API's own (core/v1 ServicePort.appProtocol).
    if (name == "kubernetes.io/h2c") return Protocol::kHttp2;
    if (name == "kubernetes.io/ws") return Protocol::kHttp;
    if (name == "kubernetes.io/wss") return Protocol::kHttps;
  }
  // The one protocol with a hyphen in its name.
  constexpr std::string_view kGrpcWeb = "grpc-web";
  if (EqualsIgnoreCase(name.substr(0, kGrpcWeb.size()), kGrpcWeb)) return Protocol::kGrpcWeb;
  const Protocol protocol = ParseProtocol(name.substr(0, name.find('-')));
  if (protocol == Protocol::kUnsupported && IsServerFirstPort(port)) return Protocol::kTcp;
  return protocol;
}

bool IsHttp(Protocol p) { return p == Protocol::kHttp || p == Protocol::kHttpProxy || IsHttp2(p); }

bool IsHttp2(Protocol p) { return p == Protocol::kHttp2 || p == Protocol::kGrpc || p == Protocol::kGrpcWeb; }

bool IsTcp(Protocol p) {
  return p == Protocol::kTcp || IsTls(p) || p == Protocol::kMongo || p == Protocol::kRedis ||
         p == Protocol::kMySql;
}

bool IsTls(Protocol p) { return p == Protocol::kHttps || p == Protocol::kTls; }

std::string_view ToString(Protocol p) {
  if (p == Protocol::kHbone) return "HBONE";
  for (const Spelling& spelling : kSpellings) {
    if (spelling.protocol == p) return spelling.name;
  }
  return "UnsupportedProtocol";
}

}  // namespace fairlead::config
