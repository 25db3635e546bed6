#include "gen/grpc/collect.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "gen/cluster/collect.h"
#include "gen/endpoint/build.h"
#include "gen/grpc/authorization.h"
#include "gen/grpc/listener_names.h"
#include "gen/naming/cluster_name.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/service_addresses.h"

namespace fairlead::gen::grpc {
namespace {

ListenerNames NamesOf(const Request& request) {
  if (request.names == nullptr) return {};
  const model::Proxy& proxy = *request.scope.proxy;
  return ParseListenerNames(*request.names, proxy.ns, proxy.domain);
}

std::string JoinHostPort(std::string_view host, uint32_t port) {
  const bool brackets = host.find(':') != std::string_view::npos;
  return brackets ? StrCat("[", host, "]:", port) : StrCat(host, ":", port);
}

// Two names may come to one: "a" and "a:80" of a host with that port.
class ClientListenerCollector {
 public:
  explicit ClientListenerCollector(const Request& request)
      : view_(model::AddressViewOf(*request.scope.proxy, request.snapshot.settings->cluster_id)) {}

  void Add(const model::Service& service, const AskedHost& asked) {
    std::vector<std::string> addresses = model::AllAddresses(service, view_);
    if (addresses.empty()) addresses.emplace_back();
    addresses.front() = model::PrimaryAddress(service, view_);
    for (const std::string& name : asked.names) {
      for (const model::ServicePort& port : service.ports) {
        if (!asked.Has(port.port)) continue;
        ClientListenerInputs inputs{JoinHostPort(name, port.port), service.hostname.str(), port.port,
                                    addresses};
        if (seen_.insert(inputs.name).second) found_.push_back(std::move(inputs));
      }
    }
  }
  std::vector<ClientListenerInputs> Take() { return std::move(found_); }

 private:
  const model::AddressView view_;
  std::set<std::string> seen_;
  std::vector<ClientListenerInputs> found_;
};

// gRPC servers know no permissive mode. Their clients try mutual TLS where the workload says that it speaks
// it, so there it is required; elsewhere it is off.
bool RequiresMutualTls(const mesh::ProxyScope& scope, uint32_t port) {
  const mesh::MutualTlsMode mode = scope.peer_authentication.ForPort(port);
  return mode == mesh::MutualTlsMode::kStrict ||
         (mode == mesh::MutualTlsMode::kPermissive &&
          LabelOr(scope.labels, "security.istio.io/tlsMode") == "istio");
}

// Of several services on a port the last one is it.
const mesh::ServiceTarget* FindTarget(const mesh::ProxyScope& scope, uint32_t port) {
  const mesh::ServiceTarget* found = nullptr;
  for (const mesh::ServiceTarget& target : scope.targets) {
    if (target.target_port == port) found = &target;
  }
  return found;
}

}  // namespace

std::vector<ClientListenerInputs> CollectClientListeners(const Request& request) {
  ClientListenerCollector collector(request);
  const mesh::SidecarScope& sidecar = *request.scope.sidecar;
  if (request.names == nullptr) {
    for (const model::ServicePtr& service : sidecar.services) {
      collector.Add(*service, {.names = {service->hostname.str()}, .ports = {}, .all_ports = true});
    }
    return collector.Take();
  }
  for (const auto& [host, asked] : NamesOf(request).hosts) {
    if (const model::ServicePtr service = sidecar.FindService(host)) collector.Add(*service, asked);
  }
  return collector.Take();
}

std::vector<ServerListenerInputs> CollectServerListeners(const Request& request) {
  std::vector<ServerListenerInputs> out;
  const mesh::ProxyScope& scope = request.scope;
  const model::AddressView view = model::AddressViewOf(*scope.proxy, request.snapshot.settings->cluster_id);
  std::vector<ServerListenerName> names = NamesOf(request).servers;
  if (names.empty()) return out;
  const Authorization authorization = CollectAuthorization(request.snapshot, scope);
  for (ServerListenerName& name : names) {
    const mesh::ServiceTarget* target = FindTarget(scope, name.port);
    if (target == nullptr) continue;
    std::vector<std::string> more = model::AllAddresses(*target->service, view);
    if (!more.empty()) more.erase(more.begin());
    out.push_back({std::move(name.name), std::move(name.address), name.port, std::move(more),
                   RequiresMutualTls(scope, name.port), authorization});
  }
  return out;
}

EffectivePolicy PolicyOf(const ClusterInputs& inputs) {
  const api::DestinationRule* rule = SpecOf(inputs.rule);
  const EffectivePolicy policy = PolicyForPort(gen::PolicyOf(rule), inputs.port);
  if (inputs.subset.empty()) return policy;
  return PolicyForSubset(policy, gen::PolicyOf(FindSubset(rule, inputs.subset)), inputs.port);
}

std::optional<ClusterInputs> CollectCluster(const Request& request, const std::string& name) {
  const ParsedClusterName parsed = ParseClusterName(name);
  if (parsed.direction == Direction::kNone || parsed.dns_srv || parsed.port == 0) return std::nullopt;
  ClusterInputs inputs;
  inputs.name = name;
  inputs.service = request.scope.sidecar->FindService(parsed.host);
  if (inputs.service == nullptr || inputs.service->FindTcpPort(parsed.port) == nullptr) return std::nullopt;
  inputs.port = parsed.port;
  inputs.subset = parsed.subset;
  inputs.rule = request.scope.sidecar->FindDestinationRule(inputs.service->hostname, inputs.service->ns,
                                                           request.scope.labels);
  if (!inputs.subset.empty() && FindSubset(SpecOf(inputs.rule), inputs.subset) == nullptr) {
    return std::nullopt;
  }
  const EffectivePolicy policy = PolicyOf(inputs);
  if (policy.tls != nullptr && policy.tls->mode() == api::ClientTLSSettings::ISTIO_MUTUAL) {
    const auto endpoints = request.snapshot.endpoints->Find(inputs.service->hostname, inputs.service->ns);
    inputs.identities = IdentitiesOf(request.snapshot, *inputs.service, endpoints.get());
  }
  return inputs;
}

}  // namespace fairlead::gen::grpc
