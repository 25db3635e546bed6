#ifndef FAIRLEAD_SIMULATE_COMMAND_SIMULATED_CALL_H_
#define FAIRLEAD_SIMULATE_COMMAND_SIMULATED_CALL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"
#include "simulate/request.h"

namespace CLI {
class App;
}

namespace fairlead::simulate {

// A call as one writes it for curl.
struct CallOptions {
  std::string url;  // [http|https|tcp|tls://]HOST[:PORT][/PATH]
  std::string method;
  std::vector<std::string> headers;  // "name: value"
  std::vector<std::string> cookies;  // "name=value"
  bool http10 = false, http2 = false, inbound = false, mutual_tls = false;
  std::string server_name;        // SNI, over what the URL gives
  std::vector<std::string> alpn;  // over what the URL gives
  std::string destination;        // IP, IP:PORT or [IP]:PORT, over what the URL's host resolves to
  std::string source;             // IP
  std::string identity;           // SPIFFE URI or NAMESPACE/SERVICEACCOUNT of the peer; means mutual TLS
  std::string claims;             // JSON, see SimulatedRequest::claims
  double draw = 0;                // see SimulatedRequest::draw
};

// Adds the call's flags and its URL to a command. The options must outlive the parsing.
void AddCallFlags(CallOptions* options, CLI::App* command);

// The identity of a proxy by its workload's certificate: "spiffe://cluster.local/ns/shop/sa/web".
std::string OwnIdentity(const model::Settings& settings, const model::Proxy& proxy);

// The protocols that a sidecar offers by ALPN over mutual TLS: Istio's own names, which the server's sidecar
// knows.
std::vector<std::string> MeshProtocols(Application application);

struct SimulatedCall {
  SimulatedRequest request;
  std::vector<std::string> notes;  // what was guessed
  std::string missing;             // why nobody answers there (see MissingTarget); "" where somebody may
};

// The request that a call makes in the mesh beside (inbound: at) this proxy. Without a given destination, the
// URL's host is resolved; inbound it is the workload itself. If the URL names a service of the workload, the
// port is the container's. InvalidArgument where the call says something impossible.
absl::StatusOr<SimulatedCall> MakeCall(const CallOptions& options, const mesh::MeshSnapshot& snapshot,
                                       const mesh::ProxyScope& scope);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_SIMULATED_CALL_H_
