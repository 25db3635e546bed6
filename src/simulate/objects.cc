#include "simulate/objects.h"

#include <algorithm>

#include "base/strings.h"
#include "config/kind.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/metadata.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/index/policy_index.h"

namespace fairlead::simulate {
namespace {

using istio::security::v1beta1::PeerAuthentication;
using istio::security::v1beta1::RequestAuthentication;

void Add(ObjectName object, SimulationOutcome* outcome) {
  auto& all = outcome->objects;
  if (std::find(all.begin(), all.end(), object) == all.end()) all.push_back(std::move(object));
}

void Add(const config::ConfigObject& object, SimulationOutcome* outcome) {
  Add({std::string(config::InfoOf(object.kind()).name), object.ns().str(), object.name().str()}, outcome);
}

// "virtual-service" -> "VirtualService"; as it is where no kind has the name.
std::string KindOf(std::string_view kebab) {
  const std::string joined = ReplaceAll(kebab, "-", "");
  for (const config::KindInfo& info : config::AllKinds()) {
    if (EqualsIgnoreCase(info.name, joined)) return std::string(info.name);
  }
  return std::string(kebab);
}

bool HoldsFor(const config::ConfigObject& policy, const mesh::MeshSnapshot& snapshot,
              const mesh::ProxyScope& scope) {
  const auto& selector = policy.Spec<PeerAuthentication>().selector().match_labels();
  const bool root = policy.ns().str() == snapshot.settings->root_namespace;
  if (selector.empty()) return root || policy.ns().str() == scope.proxy->ns;
  if (root || policy.ns().str() != scope.proxy->ns) return false;
  return std::all_of(selector.begin(), selector.end(), [&](const auto& pair) {
    const auto found = scope.labels.find(pair.first);
    return found != scope.labels.end() && found->second == pair.second;
  });
}

// Of one namespace, with or without selector, the oldest policy holds.
void AddPolicies(std::vector<config::ConfigPtr> policies, const mesh::MeshSnapshot& snapshot,
                 const mesh::ProxyScope& scope, SimulationOutcome* outcome) {
  std::erase_if(policies, [&](const auto& one) { return !HoldsFor(*one, snapshot, scope); });
  const auto rank = [](const config::ConfigPtr& one) {
    return std::pair(one->ns().str(), one->Spec<PeerAuthentication>().selector().match_labels().empty());
  };
  std::sort(policies.begin(), policies.end(), [&](const auto& a, const auto& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : config::OlderFirst(*a, *b);
  });
  for (size_t i = 0; i < policies.size(); ++i) {
    if (i == 0 || rank(policies[i]) != rank(policies[i - 1])) Add(*policies[i], outcome);
  }
}

// Of tokens that were verified the policies that say how, of one that was refused all that hold.
void AddTokenPolicies(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                      SimulationOutcome* outcome) {
  const std::vector<std::string> issuers = outcome->Values("token of");
  const bool refused = outcome->reason.find("Jwt") != std::string::npos;
  for (const config::ConfigPtr& policy :
       snapshot.policies->Select(config::Kind::kRequestAuthentication, {scope.proxy->ns, scope.labels})) {
    const auto& rules = policy->Spec<RequestAuthentication>().jwt_rules();
    const bool took_part = std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
      return std::find(issuers.begin(), issuers.end(), rule.issuer()) != issuers.end();
    });
    if (took_part || refused) Add(*policy, outcome);
  }
}

void AddService(const model::Service* service, SimulationOutcome* outcome) {
  if (service != nullptr && service->source != nullptr) Add(*service->source, outcome);
}

void AddServicesOf(std::string_view cluster, const mesh::MeshSnapshot& snapshot,
                   const mesh::ProxyScope& scope, SimulationOutcome* outcome) {
  const gen::ParsedClusterName parsed = gen::ParseClusterName(cluster);
  if (parsed.direction == gen::Direction::kOutbound) {
    model::ServicePtr service = scope.sidecar->imports->FindService(parsed.host);
    const auto& everywhere = snapshot.services->ByHost(parsed.host);
    if (service == nullptr && !everywhere.empty()) service = everywhere.front();
    AddService(service.get(), outcome);
  } else if (parsed.direction == gen::Direction::kInbound) {
    for (const mesh::ServiceTarget& target : *scope.targets) {
      if (target.target_port == parsed.port) AddService(target.service.get(), outcome);
    }
  }
}

bool HasRoute(const config::ConfigObject& delegate, std::string_view route) {
  const auto& routes = delegate.Spec<istio::networking::v1alpha3::VirtualService>().http();
  return std::any_of(routes.begin(), routes.end(), [&](const auto& one) {
    return !one.name().empty() && (route == one.name() || route.ends_with(StrCat("-", one.name())));
  });
}

// Metadata names the root of a VirtualService with delegates. The delegate is the one with a route of the
// chosen name; where names do not tell, all of them are given.
void AddDelegates(const mesh::ProxyScope& scope, SimulationOutcome* outcome) {
  const std::vector<std::string> routes = outcome->Values("route");
  std::vector<config::ConfigPtr> delegates;
  for (const auto& virtual_services : scope.sidecar->virtual_services) {
    for (const mesh::VirtualServicePtr& one : virtual_services) {
      const ObjectName root{"VirtualService", one->object->ns().str(), one->object->name().str()};
      if (std::find(outcome->objects.begin(), outcome->objects.end(), root) == outcome->objects.end())
        continue;
      delegates.insert(delegates.end(), one->delegates.begin(), one->delegates.end());
    }
  }
  std::erase(delegates, nullptr);
  const auto chosen = [&](const config::ConfigPtr& one) {
    return !routes.empty() && HasRoute(*one, routes.front());
  };
  if (std::any_of(delegates.begin(), delegates.end(), chosen))
    std::erase_if(delegates, [&](const auto& one) { return !chosen(one); });
  for (const config::ConfigPtr& one : delegates) Add(*one, outcome);
}

// The Gateways whose hosts the chosen route configuration is for.
void AddGateways(const mesh::ProxyScope& scope, SimulationOutcome* outcome) {
  if (scope.gateways == nullptr) return;
  for (const std::string& name : outcome->Values("route configuration")) {
    const auto route = scope.gateways->routes.find(Interned(name));
    if (route == scope.gateways->routes.end()) continue;
    for (const mesh::GatewayServerPtr& server : route->second->servers) Add(*server->gateway, outcome);
  }
}

}  // namespace

void AddObjects(const envoy::config::core::v3::Metadata& metadata, SimulationOutcome* outcome) {
  const auto istio = metadata.filter_metadata().find(std::string(gen::kIstioMetadata));
  if (istio == metadata.filter_metadata().end()) return;
  const auto path = istio->second.fields().find("config");
  if (path == istio->second.fields().end()) return;
  // "/apis/GROUP/VERSION/namespaces/NAMESPACE/KIND/NAME"
  const auto parts = Split(path->second.string_value(), '/');
  if (parts.size() == 8) Add({KindOf(parts[6]), std::string(parts[5]), std::string(parts[7])}, outcome);
}

void AddMeshObjects(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                    const std::vector<config::ConfigPtr>& policies, const SimulatedRequest& request,
                    SimulationOutcome* outcome) {
  AddDelegates(scope, outcome);
  AddGateways(scope, outcome);
  for (const Destination& one : outcome->destinations) AddServicesOf(one.cluster, snapshot, scope, outcome);
  if (scope.sidecar != nullptr && scope.sidecar->imports->object != nullptr)
    Add(*scope.sidecar->imports->object, outcome);
  if (request.direction == CallDirection::kInbound) AddPolicies(policies, snapshot, scope, outcome);
  AddTokenPolicies(snapshot, scope, outcome);
}

}  // namespace fairlead::simulate
