#include "simulate/command/server_side.h"

#include <charconv>
#include <set>

#include "base/strings.h"
#include "mesh/view/proxy_scope.h"
#include "simulate/command/simulated_call.h"
#include "simulate/command/simulated_proxy.h"
#include "simulate/objects.h"
#include "simulate/simulate.h"

namespace fairlead::simulate {
namespace {

// "10.1.2.3:8080", "[2001:db8::1]:8080"; false for a path of a socket.
bool SplitAddress(std::string_view text, std::string* ip, uint32_t* port) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  *ip = text.substr(0, colon);
  if (ip->starts_with('[') && ip->ends_with(']')) *ip = ip->substr(1, ip->size() - 2);
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), *port);
  return error == std::errc() && end == text.data() + text.size();
}

void Change(const SimulationOutcome& outcome, std::string_view what, std::string* value) {
  if (const std::vector<std::string> now = outcome.Values(what); !now.empty()) *value = now.front();
}

// What the client's proxy sends to an endpoint.
SimulatedRequest Onward(const LoadedMesh& mesh, const model::Proxy& client, const SimulatedRequest& request,
                        const SimulationOutcome& outcome, const Transport& transport) {
  SimulatedRequest onward = request;
  onward.direction = CallDirection::kInbound;
  if (request.direction == CallDirection::kGateway) {
    onward.identity = OwnIdentity(*mesh.snapshot->settings, client);
    onward.source_address = client.ip_addresses.empty() ? "" : client.ip_addresses.front();
  }
  Change(outcome, "path", &onward.path);
  Change(outcome, "host", &onward.authority);
  const bool tcp = outcome.verdict == CallVerdict::kTcp;
  // A connection with the client's own TLS stays what it is, inside of the sidecar's where it adds some.
  if (transport.tls && request.tls && tcp) onward.application = Application::kTcp;
  if (!transport.tls) {
    onward.identity.clear();
    if (!transport.passes_tls) onward.tls.reset();
    return onward;
  }
  const bool of_mesh = transport.certificate == Transport::Certificate::kMesh;
  onward.tls.emplace();
  onward.tls->server_name = transport.server_name;
  onward.tls->client_certificate = of_mesh;
  if (!of_mesh) onward.identity.clear();
  if (of_mesh) onward.tls->alpn = MeshProtocols(tcp ? Application::kTcp : onward.application);
  return onward;
}

// "POD.NAMESPACE" of the workload with a sidecar at an address; "" where there is none.
std::string SidecarAt(const LoadedMesh& mesh, std::string_view ip) {
  const model::WorkloadInstance* found = mesh.snapshot->workloads->FindByAddress(ip);
  if (found == nullptr || found->workload->tls_mode.str() != "istio") return "";
  return StrCat(found->name.str(), ".", found->workload->ns.str());
}

absl::StatusOr<SimulationOutcome> Arrive(const LoadedMesh& mesh, const std::string& name,
                                         const SimulatedRequest& request) {
  const auto proxy = ChooseProxy(mesh, {.name = name, .file = "", .labels = {}});
  if (!proxy.ok()) return proxy.status();
  const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*mesh.snapshot, *proxy);
  auto outcome = Simulate(ResourcesOf(*mesh.snapshot, *scope), request);
  if (outcome.ok()) {
    AddMeshObjects(*mesh.snapshot, *scope, mesh.Of(config::Kind::kPeerAuthentication), request, &*outcome);
  }
  return outcome;
}

}  // namespace

std::vector<ServerSide> FollowToServers(const LoadedMesh& mesh, const model::Proxy& client,
                                        const SimulatedRequest& request, const SimulationOutcome& outcome) {
  std::vector<ServerSide> servers;
  std::set<std::string> seen;
  for (const Destination& destination : outcome.destinations) {
    for (const Candidate& candidate : destination.candidates) {
      SimulatedRequest onward = Onward(mesh, client, request, outcome, candidate.transport);
      if (!SplitAddress(candidate.address, &onward.destination_address, &onward.destination_port)) continue;
      const std::string proxy = SidecarAt(mesh, onward.destination_address);
      // One transport for all of a cluster's shares, mostly: an endpoint is told once for each.
      const std::string key = StrCat(candidate.address, " ", ToText(candidate.transport));
      if (proxy.empty() || !seen.insert(key).second) continue;
      if (auto arrived = Arrive(mesh, proxy, onward); arrived.ok())
        servers.push_back({candidate.address, proxy, std::move(onward), *std::move(arrived)});
    }
  }
  return servers;
}

}  // namespace fairlead::simulate
