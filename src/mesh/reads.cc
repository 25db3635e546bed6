#include "mesh/reads.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "mesh/destination_rule_index.h"
#include "mesh/policy_index.h"
#include "mesh/proxy_scope.h"
#include "mesh/scope_services.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {
namespace {

// What clients in `ns` mean by a host: see View::Destination.
model::ServicePtr FindDestination(const MeshSnapshot& snapshot, const Interned& host, const Interned& ns) {
  const ServiceIndex::Services& of_host = snapshot.services->ByHost(host);
  const auto own = std::find_if(of_host.begin(), of_host.end(),
                                [&ns](const model::ServicePtr& service) { return service->ns == ns; });
  if (own != of_host.end()) return *own;
  if (snapshot.settings->features.best_namespace) return BestVisible(of_host, ns);
  model::ServicePtr first;
  for (const model::ServicePtr& service : of_host) {
    if (!service->visibility.VisibleIn(ns)) continue;
    if (first == nullptr || service->ns.str() < first->ns.str()) first = service;
  }
  return first;
}

// A part of the settings stands in questions as a letter.
model::SettingsPart PartOf(const Interned& letter) {
  return static_cast<model::SettingsPart>(letter.str().front() - 'a');
}

// See View::NamedService.
model::ServicePtr FindNamed(const MeshSnapshot& snapshot, const Interned& host, const Interned& ns) {
  model::ServicePtr chosen;
  for (const model::ServicePtr& service : snapshot.services->ByHost(host)) {
    if (!(service->ns == ns)) continue;
    if (chosen == nullptr ||
        std::tie(chosen->creation_time, chosen->name) <= std::tie(service->creation_time, service->name)) {
      chosen = service;
    }
  }
  return chosen;
}

model::KeySetPtr FindKeySet(const MeshSnapshot& snapshot, const model::KeySource& source) {
  if (snapshot.key_sets == nullptr) return nullptr;
  const auto found = snapshot.key_sets->find(source);
  return found == snapshot.key_sets->end() ? nullptr : found->second;
}

std::string TextOf(const LabelMap& labels, const Interned& key) {
  const auto it = labels.find(std::string_view(key));
  return it == labels.end() ? "" : StrCat("=", it->second);
}

std::string TextOf(const std::optional<model::PeerIdentity>& identity) {
  if (!identity) return {};
  return StrCat(identity->trust_domain, "/", identity->ns, "/", identity->service_account);
}

// Where the ports of services lead, with what decides about their use.
std::string TextOf(const std::vector<ServiceTarget>& targets) {
  std::string text;
  for (const ServiceTarget& target : targets) {
    StrAppend(&text, target.service->ns.str(), "/", target.service->hostname.str(), " ", target.port->port,
              " ", target.target_port, target.port->protocol == model::Protocol::kUdp ? " udp" : "");
    for (const auto& [key, value] : target.service->labels) StrAppend(&text, " ", key);
    text += "\n";
  }
  return text;
}

GatewayRoutePtr FindRoute(const MergedGateway& gateways, const Interned& name) {
  const auto found = gateways.routes.find(name);
  return found == gateways.routes.end() ? nullptr : found->second;
}

std::string InternalRanges(const model::Settings& settings) {
  std::multiset<std::string> ranges;
  for (const auto& [name, network] : settings.networks->networks()) {
    for (const auto& endpoints : network.endpoints()) {
      if (!endpoints.from_cidr().empty()) ranges.insert(endpoints.from_cidr());
    }
  }
  return Join(ranges, " ");
}

Answer AskSnapshot(const MeshSnapshot& snapshot, const Question& q) {
  switch (q.part) {
    case Part::kSettings:
      return {snapshot.settings, {}};
    case Part::kSettingsPart:
      return {model::CutDownTo(PartOf(q.a), snapshot.settings), {}};
    case Part::kNetworks:
      return {snapshot.networks, {}};
    case Part::kServices:
      return {snapshot.services->Namespace(q.a), {}};
    case Part::kHost:
      return {snapshot.services->Host(q.a), {}};
    case Part::kNamedService:
      return {FindNamed(snapshot, q.a, q.b), {}};
    case Part::kAllServices:
      return {snapshot.services, {}};
    case Part::kEndpoints:
      return {snapshot.endpoints->Namespace(q.a), {}};
    case Part::kServiceEndpoints:
      return {snapshot.endpoints->Find(q.a, q.b), {}};
    case Part::kEndpointTraits: {
      const NamespaceEndpointsPtr of_namespace = snapshot.endpoints->Namespace(q.a);
      return {of_namespace == nullptr ? nullptr : of_namespace->traits(), {}};
    }
    case Part::kVirtualServices:
      return {snapshot.virtual_services->OfMeshIn(q.a), {}};
    case Part::kVirtualServicesForAll:
      return {snapshot.virtual_services->ForAll(q.a), {}};
    case Part::kVirtualServicesOwn:
      return {snapshot.virtual_services->OwnOf(q.b, q.a), {}};
    case Part::kVirtualServicesForSome:
      return {snapshot.virtual_services->ExportedTo(q.b, q.a), {}};
    case Part::kInternalRanges:
      return {nullptr, InternalRanges(*snapshot.settings)};
    case Part::kAllVirtualServices:
      return {snapshot.virtual_services, {}};
    case Part::kDestinationRules:
      return {snapshot.destination_rules->Namespace(q.a), {}};
    case Part::kPeerAuthentications:
      return {snapshot.peer_authentications->Namespace(q.a), {}};
    case Part::kObjects:
      return {snapshot.objects->In(q.kind, q.a), {}};
    case Part::kAllObjects:
      return {snapshot.objects->All(q.kind), {}};
    case Part::kObject:
      return {snapshot.objects->Find(q.kind, q.a, q.b), {}};
    case Part::kPolicies:
      return {snapshot.policies->Part(q.kind, q.a), {}};
    case Part::kWorkloads:
      return {snapshot.workloads->At(q.a), {}};
    case Part::kPod:
      return {snapshot.workloads->Pod(q.a, q.b), {}};
    case Part::kExternalTargets:
      return {snapshot.external_targets->At(q.a), {}};
    case Part::kWritten:
      return {snapshot.written == nullptr ? nullptr : snapshot.written->All(q.kind), {}};
    case Part::kDestination:
      return {FindDestination(snapshot, q.a, q.b), {}};
    case Part::kKeySet:
      return {FindKeySet(snapshot, {q.a, q.b}), {}};
    case Part::kTrustBundle:
      return {snapshot.trust_bundle, {}};
    default:
      return {};
  }
}

struct AnswerReader {
  Answer Part(std::shared_ptr<const void> part) const { return {std::move(part), {}}; }
  Answer Text(const auto& text) const { return {nullptr, text}; }
};

// Whether it is that answer.
struct SameReader {
  bool Part(const auto& part) const { return answer.part == part && answer.text.empty(); }
  bool Text(const auto& text) const { return answer.part == nullptr && answer.text == text; }
  const Answer& answer;
};

// Gives the answer to a reader, by Part or Text. Clients are asked mostly whether it is the same as before:
// that takes no reference and interns nothing.
template <typename Reader>
auto ReadClient(const ProxyScope& client, const Question& q, const Reader& reader) {
  const ScopeImports& imports = *client.sidecar->imports;
  const MergedGateway* gateways = client.gateways.get();
  const model::Proxy& proxy = *client.proxy;
  switch (q.part) {
    case Part::kRoutes:
      return reader.Part(client.sidecar);
    case Part::kImports:
      return reader.Part(client.sidecar->imports);
    case Part::kImported:
      return reader.Part(imports.FindService(q.a));
    case Part::kRule:
      return reader.Part(imports.FindDestinationRule(q.a, client.labels));
    case Part::kInboundRule:
      return reader.Part(imports.FindDestinationRule(q.a, client.labels, /*outbound=*/false));
    case Part::kSidecar:
      return reader.Part(imports.object);
    case Part::kGatewayPorts:
      return reader.Part(gateways->ports);
    case Part::kGatewayRoute:
      return reader.Part(FindRoute(*gateways, q.a));
    case Part::kGatewayNames:
      return reader.Part(gateways->names);
    case Part::kGatewayPassthroughHosts:
      return reader.Part(gateways->auto_passthrough_hosts);
    case Part::kGatewayServers:
      return reader.Part(gateways->servers);
    case Part::kOutboundPolicy:
      return reader.Part(imports.outbound_traffic_policy);
    case Part::kClass:
      return reader.Part(proxy.cls);
    case Part::kNamespace:
      return reader.Text(proxy.ns);
    case Part::kSlot:
      return reader.Text(client.slot);
    case Part::kLabel:
      return reader.Text(TextOf(client.labels, q.a));
    case Part::kIsLabelled:
      return reader.Text(client.labels.empty() ? "" : "yes");
    case Part::kLocality:
      return reader.Text(StrCat(client.locality.region.str(), "\n", client.locality.zone.str(), "\n",
                                client.locality.subzone.str()));
    case Part::kNodeName:
      return reader.Text(proxy.metadata.node_name);
    case Part::kWorkloadName:
      return reader.Text(proxy.metadata.workload_name);
    case Part::kMetadataNamespace:
      return reader.Text(proxy.metadata.ns);
    case Part::kDomain:
      return reader.Text(proxy.domain);
    case Part::kAnnotation:
      return reader.Text(model::RawEntry(proxy.metadata, "ANNOTATIONS", q.a.str()).value_or(""));
    case Part::kMetadata: {
      const auto value = model::RawText(proxy.metadata, q.a.str());
      return reader.Text(value ? StrCat("=", *value) : std::string());
    }
    case Part::kNodeCluster:
      return reader.Text(proxy.cluster);
    case Part::kMeshId:
      return reader.Text(proxy.metadata.mesh_id);
    case Part::kHasAddress:
      return reader.Text(proxy.ip_addresses.front() == q.a.str() ? "yes" : "");
    case Part::kTargets:
      return reader.Part(client.targets);
    case Part::kTargetPorts:
      return reader.Text(TextOf(*client.targets));
    case Part::kOwnMutualTls:
      return reader.Part(client.peer_authentication);
    case Part::kIdentity:
      return reader.Text(TextOf(proxy.identity));
    case Part::kProxy:
      return reader.Part(client.proxy);
    default:
      return reader.Part(nullptr);
  }
}

}  // namespace

Answer Ask(const World& world, const Question& question) {
  return question.part < kFirstOfClient ? AskSnapshot(world.snapshot, question)
                                        : ReadClient(*world.client, question, AnswerReader{});
}

Question Wider(const World& world, const Question& question) {
  switch (question.part) {
    case Part::kServiceEndpoints:
      return {Part::kEndpoints, {}, question.b};
    case Part::kDestination:
      return {Part::kHost, {}, question.a};
    case Part::kObject:
      return {Part::kObjects, question.kind, question.a};
    case Part::kNamedService:
      return {Part::kServices, {}, question.b};
    case Part::kImported:
      return {Part::kImports};
    case Part::kRule:
      // Which rule it is follows from the imports, unless the client's labels have a say.
      if (world.client->sidecar->imports->RuleDependsOnLabels(question.a)) return question;
      return {Part::kImports};
    default:
      return question;
  }
}

bool Reads::Hold(const World& world) const {
  if (!repeatable_) return false;
  const auto same_client = [&world](const Read& read) {
    return ReadClient(*world.client, read.question, SameReader{read.answer});
  };
  if (!std::all_of(of_client_.begin(), of_client_.end(), same_client)) return false;
  if (held_in_.load(std::memory_order_relaxed) == world.snapshot.id) return true;
  const auto same = [&world](const Read& read) { return Ask(world, read.question) == read.answer; };
  if (!std::all_of(of_snapshot_.begin(), of_snapshot_.end(), same)) return false;
  held_in_.store(world.snapshot.id, std::memory_order_relaxed);
  return true;
}

}  // namespace fairlead::mesh
