#ifndef FAIRLEAD_GEN_GRPC_LISTENER_NAMES_H_
#define FAIRLEAD_GEN_GRPC_LISTENER_NAMES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::gen::grpc {

// How the listeners of gRPC servers are called, before their address: the bootstrap's
// server_listener_resource_name_template.
inline constexpr std::string_view kServerListenerPrefix = "xds.istio.io/grpc/lds/inbound/";

// Where a gRPC server listens, as its listener's name says it.
struct ServerListenerName {
  std::string name;  // the whole
  std::string address;
  uint32_t port = 0;
  friend bool operator==(const ServerListenerName&, const ServerListenerName&) = default;
};

// A host that is asked for.
struct AskedHost {
  std::set<std::string> names;  // as it was asked for: "reviews", "reviews.default.svc.cluster.local"
  std::set<std::string> ports;  // as text
  bool all_ports = false;       // a name came without port: `ports` no longer count
  bool Has(uint32_t port) const;
  friend bool operator==(const AskedHost&, const AskedHost&) = default;
};

// The names of listeners that a client asks for, taken apart. A short name stands for itself and for what the
// client's DNS domain makes of it. Source: Istio's newListenerNameFilter.
struct ListenerNames {
  std::map<std::string, AskedHost, std::less<>> hosts;
  std::vector<ServerListenerName> servers;
};
// `ns` and `domain` are the client's: "default", "default.svc.cluster.local". Server listeners without a
// port that is one are left out.
ListenerNames ParseListenerNames(const std::vector<std::string>& names, std::string_view ns,
                                 std::string_view domain);

// The fully qualified name of a short host: of "a", "a.default" and "a.default.svc" for a client in
// "default". "" where it is not short.
std::string CompleteHost(std::string_view host, std::string_view ns, std::string_view domain);

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_LISTENER_NAMES_H_
