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
#include "gen/route/sessions.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "model/service_addresses.h"

namespace fairlead::gen::grpc {
namespace {

ListenerNames NamesOf(mesh::View& view, const Names* names) {
  if (names == nullptr) return {};
  return ParseListenerNames(*names, view.client_namespace(), view.domain());
}

std::string JoinHostPort(std::string_view host, uint32_t port) {
  const bool brackets = host.find(':') != std::string_view::npos;
  return brackets ? StrCat("[", host, "]:", port) : StrCat(host, ":", port);
}

// Two names may come to one: "a" and "a:80" of a host with that port.
class ClientListenerCollector {
 public:
  explicit ClientListenerCollector(mesh::View& view)
      : settings_(view.settings(model::SettingsPart::kScopes)),
        view_(model::AddressViewOf(view.proxy_class(), *settings_)) {}

  void Add(const model::Service& service, const AskedHost& asked) {
    std::vector<std::string> addresses = model::AllAddresses(service, view_);
    if (addresses.empty()) addresses.emplace_back();
    addresses.front() = model::PrimaryAddress(service, view_);
    for (const std::string& name : asked.names) {
      for (const model::ServicePort& port : service.ports) {
        if (!asked.Has(port.port)) continue;
        ClientListenerInputs inputs{JoinHostPort(name, port.port), service.hostname.str(), port.port,
                                    addresses, route::SessionOf(settings_->features, service.labels)};
        if (seen_.insert(inputs.name).second) found_.push_back(std::move(inputs));
      }
    }
  }
  std::vector<ClientListenerInputs> Take() { return std::move(found_); }

 private:
  const model::SettingsPtr settings_;
  const model::AddressView view_;
  std::set<std::string> seen_;
  std::vector<ClientListenerInputs> found_;
};

// gRPC servers know no permissive mode. Their clients try mutual TLS where the workload says that it speaks
// it, so there it is required; elsewhere it is off.
bool RequiresMutualTls(mesh::View& view, uint32_t port) {
  const mesh::MutualTlsMode mode = view.own_mutual_tls().ForPort(port);
  return mode == mesh::MutualTlsMode::kStrict ||
         (mode == mesh::MutualTlsMode::kPermissive && view.Label("security.istio.io/tlsMode") == "istio");
}

// Of several services on a port the last one is it.
const mesh::ServiceTarget* FindTarget(mesh::View& view, uint32_t port) {
  const mesh::ServiceTarget* found = nullptr;
  for (const mesh::ServiceTarget& target : view.targets()) {
    if (target.target_port == port) found = &target;
  }
  return found;
}

}  // namespace

std::vector<ClientListenerInputs> CollectClientListeners(mesh::View& view, const Names* names) {
  ClientListenerCollector collector(view);
  if (names == nullptr) {
    for (const model::ServicePtr& service : view.imports().services) {
      collector.Add(*service, {.names = {service->hostname.str()}, .ports = {}, .all_ports = true});
    }
    return collector.Take();
  }
  for (const auto& [host, asked] : NamesOf(view, names).hosts) {
    if (const model::ServicePtr service = view.Imported(host)) collector.Add(*service, asked);
  }
  return collector.Take();
}

std::vector<ServerListenerInputs> CollectServerListeners(mesh::View& view, const Names* names) {
  std::vector<ServerListenerInputs> out;
  std::vector<ServerListenerName> servers = NamesOf(view, names).servers;
  if (servers.empty()) return out;
  const model::AddressView addresses =
      model::AddressViewOf(view.proxy_class(), *view.settings(model::SettingsPart::kScopes));
  const ServerPolicies authorization = CollectAuthorization(view);
  for (ServerListenerName& name : servers) {
    const mesh::ServiceTarget* target = FindTarget(view, name.port);
    if (target == nullptr) continue;
    std::vector<std::string> more = model::AllAddresses(*target->service, addresses);
    if (!more.empty()) more.erase(more.begin());
    out.push_back({std::move(name.name), std::move(name.address), name.port, std::move(more),
                   RequiresMutualTls(view, name.port), authorization});
  }
  return out;
}

EffectivePolicy PolicyOf(const ClusterInputs& inputs) {
  const api::DestinationRule* rule = SpecOf(inputs.rule);
  EffectivePolicy policy = PolicyForPort(gen::PolicyOf(rule), inputs.port);
  if (inputs.subset.empty()) return policy;
  return PolicyForSubset(policy, gen::PolicyOf(FindSubset(rule, inputs.subset)), inputs.port);
}

std::optional<ClusterInputs> CollectCluster(mesh::View& view, const std::string& name) {
  const ParsedClusterName parsed = ParseClusterName(name);
  if (parsed.direction == Direction::kNone || parsed.dns_srv || parsed.udp || parsed.port == 0)
    return std::nullopt;
  ClusterInputs inputs;
  inputs.name = name;
  inputs.service = view.Imported(parsed.host);
  if (inputs.service == nullptr || inputs.service->FindTcpPort(parsed.port) == nullptr) return std::nullopt;
  inputs.port = parsed.port;
  inputs.subset = parsed.subset;
  inputs.rule = view.Rule(inputs.service->hostname);
  if (!inputs.subset.empty() && FindSubset(SpecOf(inputs.rule), inputs.subset) == nullptr) {
    return std::nullopt;
  }
  const model::Features& features = view.settings(model::SettingsPart::kClusters)->features;
  inputs.keeps_sessions = features.KeepsSessions(inputs.service->labels);
  const EffectivePolicy policy = PolicyOf(inputs);
  if (policy.tls != nullptr && policy.tls->mode() == api::ClientTLSSettings::ISTIO_MUTUAL) {
    const auto endpoints = view.TraitsOfEndpoints(inputs.service->hostname, inputs.service->ns);
    inputs.identities = IdentitiesOf(view, *inputs.service, endpoints);
  }
  return inputs;
}

}  // namespace fairlead::gen::grpc
