#include "mesh/view.h"

#include <array>
#include <atomic>

#include "base/log.h"
#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::mesh {

using model::SettingsPart;

namespace {

LogScope mesh_log("mesh");

std::atomic<uint64_t> mismatches{0};

}  // namespace

void ReportMismatch(std::string_view what) {
  ++mismatches;
  mesh_log.Error(
      "what was made before is not what would be made now, though what it was made from is the same: {}",
      what);
}

uint64_t MismatchCount() { return mismatches.load(); }

ReadsPtr View::Take() {
  auto reads = std::make_shared<Reads>();
  absl::flat_hash_set<Question> wider;
  for (auto& [question, answer] : noted_) {
    const bool of_client = question.part >= kFirstOfClient;
    if (!of_client) wider.insert(Wider(world_, question));
    (of_client ? reads->of_client_ : reads->of_snapshot_).push_back({question, std::move(answer)});
  }
  reads->wider_.assign(wider.begin(), wider.end());
  reads->repeatable_ = repeatable_;
  reads->held_in_ = world_.snapshot.id;
  return reads;
}

void View::Add(const Reads& reads) {
  for (const Question& question : reads.wider()) NoteAnswer(question);
  // What answers for a question about the client depends on this view's client.
  for (const Reads::Read& read : reads.of_client()) NoteAnswer(Wider(world_, read.question));
  repeatable_ &= reads.repeatable_;
}

void View::NoteAnswer(const Question& question) {
  const auto [it, is_new] = noted_.try_emplace(question);
  if (is_new) it->second = Ask(world_, question);
}

// What the question's part is, as an object.
template <typename T>
std::shared_ptr<const T> View::Note(Question question) {
  const auto [it, is_new] = noted_.try_emplace(std::move(question));
  if (is_new) it->second = Ask(world_, it->first);
  return std::static_pointer_cast<const T>(it->second.part);
}

const model::SettingsPtr& View::settings() {
  NoteAnswer({Part::kSettings});
  return world_.snapshot.settings;
}

const model::SettingsPtr& View::settings(model::SettingsPart part) {
  static const auto* const names = [] {
    auto* all = new std::array<Interned, model::kSettingsPartCount>;
    for (size_t i = 0; i < all->size(); ++i) (*all)[i] = std::string(1, static_cast<char>('a' + i));
    return all;
  }();
  NoteAnswer({Part::kSettingsPart, {}, (*names)[static_cast<size_t>(part)]});
  return model::CutDownTo(part, world_.snapshot.settings);
}

const std::shared_ptr<const NetworkIndex>& View::networks() {
  NoteAnswer({Part::kNetworks});
  return world_.snapshot.networks;
}

const ServiceIndex& View::all_services() {
  NoteAnswer({Part::kAllServices});
  return *world_.snapshot.services;
}

NamespaceServicesPtr View::Services(const Interned& ns) {
  return Note<NamespaceServices>({Part::kServices, {}, ns});
}

const std::vector<model::ServicePtr>& View::Host(const Interned& hostname) {
  NoteAnswer({Part::kHost, {}, hostname});
  return world_.snapshot.services->ByHost(hostname);
}

model::ServicePtr View::FindService(const Interned& hostname, const Interned& ns) {
  NoteAnswer({Part::kServices, {}, ns});
  return world_.snapshot.services->Find(hostname, ns);
}

model::ServicePtr View::NamedService(const Interned& hostname, const Interned& ns) {
  return Note<model::Service>({Part::kNamedService, {}, hostname, ns});
}

model::ServiceEndpointsPtr View::Endpoints(const Interned& hostname, const Interned& ns) {
  return Note<model::ServiceEndpoints>({Part::kServiceEndpoints, {}, hostname, ns});
}

model::ServiceEndpointsPtr View::EndpointsForTraits(const Interned& hostname, const Interned& ns) {
  NoteAnswer({Part::kEndpointTraits, {}, ns});
  return world_.snapshot.endpoints->Find(hostname, ns);
}

NamespacePeerAuthenticationPtr View::peer_authentication(const Interned& ns) {
  return Note<NamespacePeerAuthentication>({Part::kPeerAuthentications, {}, ns});
}

NamespacePeerAuthenticationPtr View::mesh_peer_authentication() {
  return peer_authentication(settings(SettingsPart::kIndexes)->root_namespace);
}

const ObjectIndex::List& View::Objects(config::Kind kind, const Interned& ns) {
  NoteAnswer({Part::kObjects, kind, ns});
  return world_.snapshot.objects->Of(kind, ns);
}

const ObjectIndex::List& View::AllObjects(config::Kind kind) {
  NoteAnswer({Part::kAllObjects, kind});
  return world_.snapshot.objects->Of(kind);
}

WrittenObjects::OfKind View::Written(config::Kind kind) {
  return Note<config::ObjectStore::ByName>({Part::kWritten, kind});
}

config::ConfigPtr View::Object(config::Kind kind, const Interned& ns, const Interned& name) {
  return Note<config::ConfigObject>({Part::kObject, kind, ns, name});
}

NamespacePoliciesPtr View::PoliciesIn(config::Kind kind, const Interned& ns) {
  return Note<NamespacePolicies>({Part::kPolicies, kind, ns});
}

std::vector<const model::WorkloadInstance*> View::WorkloadEntriesAt(const Interned& address) {
  NoteAnswer({Part::kWorkloads, {}, address});
  return world_.snapshot.workloads->EntriesByAddress(address);
}

const model::WorkloadInstance* View::Pod(const Interned& ns, const Interned& name, const Interned& cluster) {
  return Note<model::WorkloadInstance>({Part::kPod, {}, WorkloadIndex::PlaceOf(ns, cluster), name}).get();
}

std::vector<const model::WorkloadInstance*> View::PodsAt(const Interned& address) {
  NoteAnswer({Part::kWorkloads, {}, address});
  return world_.snapshot.workloads->PodsByAddress(address);
}

std::shared_ptr<const model::ExternalTargets> View::ExternalTargetsAt(const Interned& address) {
  return Note<model::ExternalTargets>({Part::kExternalTargets, {}, address});
}

VirtualServiceIndex::ListPtr View::VirtualServicesIn(const Interned& ns) {
  return Note<VirtualServiceIndex::List>({Part::kVirtualServices, {}, ns});
}

const VirtualServiceIndex& View::all_virtual_services() {
  NoteAnswer({Part::kAllVirtualServices});
  return *world_.snapshot.virtual_services;
}

VirtualServiceIndex::List View::VirtualServicesFor(const Interned& gateway) {
  const Interned ns = client_namespace();
  NoteAnswer({Part::kVirtualServicesForAll, {}, gateway});
  NoteAnswer({Part::kVirtualServicesOwn, {}, gateway, ns});
  NoteAnswer({Part::kVirtualServicesForSome, {}, gateway, ns});
  return world_.snapshot.virtual_services->VisibleIn(ns, gateway);
}

std::vector<std::string> View::InternalRanges() {
  NoteAnswer({Part::kInternalRanges});
  const Interned text = Ask(world_, {Part::kInternalRanges}).text;
  std::vector<std::string> ranges;
  if (text.empty()) return ranges;
  for (const std::string_view range : Split(text.str(), ' ')) ranges.emplace_back(range);
  return ranges;
}

NamespaceRulesPtr View::RulesIn(const Interned& ns) {
  return Note<NamespaceRules>({Part::kDestinationRules, {}, ns});
}

model::ServicePtr View::Destination(const Interned& host, const Interned& ns) {
  return Note<model::Service>({Part::kDestination, {}, host, ns});
}

model::KeySetPtr View::KeySet(const model::KeySource& source) {
  return Note<std::string>({Part::kKeySet, {}, source.uri, source.issuer});
}

model::TrustBundlePtr View::TrustBundle() { return Note<model::TrustBundle>({Part::kTrustBundle}); }

const ScopeImports& View::imports() {
  NoteAnswer({Part::kImports});
  return *world_.client->sidecar->imports;
}

const SidecarScope& View::routes() {
  NoteAnswer({Part::kRoutes});
  return *world_.client->sidecar;
}

model::ServicePtr View::Imported(const Interned& hostname) {
  if (noted_.contains(Question{Part::kImports})) return imports().FindService(hostname);
  return Note<model::Service>({Part::kImported, {}, hostname});
}

DestinationRulePtr View::Rule(const Interned& hostname) {
  // What follows from the imports alone need not be noted besides.
  if (noted_.contains(Question{Part::kImports}) && !imports().RuleDependsOnLabels(hostname)) {
    return imports().FindDestinationRule(hostname, world_.client->labels);
  }
  return Note<DestinationRule>({Part::kRule, {}, hostname});
}

DestinationRulePtr View::InboundRule(const Interned& hostname) {
  return Note<DestinationRule>({Part::kInboundRule, {}, hostname});
}

const config::ConfigPtr& View::sidecar_object() {
  NoteAnswer({Part::kSidecar});
  return world_.client->sidecar->imports->object;
}

const istio::networking::v1alpha3::OutboundTrafficPolicy& View::outbound_policy() {
  NoteAnswer({Part::kOutboundPolicy});
  const auto& policy = world_.client->sidecar->imports->outbound_traffic_policy;
  // Scopes of proxies that send nothing outbound have none.
  return policy != nullptr ? *policy : istio::networking::v1alpha3::OutboundTrafficPolicy::default_instance();
}

const model::ProxyClassPtr& View::proxy_class_ptr() {
  NoteAnswer({Part::kClass});
  return world_.client->proxy->cls;
}

const std::string& View::client_namespace() {
  NoteAnswer({Part::kNamespace});
  return world_.client->proxy->ns;
}

const Interned& View::slot() {
  NoteAnswer({Part::kSlot});
  return world_.client->slot;
}

std::vector<config::ConfigPtr> View::Policies(config::Kind kind) {
  const std::string& ns = client_namespace();
  const std::string& root = settings(SettingsPart::kIndexes)->root_namespace;
  const bool selectors = settings(SettingsPart::kIndexes)->features.selectors_of_gateways;
  PolicyParts parts;
  parts.root = PoliciesIn(kind, root);
  parts.in_root = ns == root;
  if (!parts.in_root) parts.own = PoliciesIn(kind, ns);
  for (const std::string& key : PolicyLabelKeys(kind, parts, /*waypoint=*/false, selectors)) Label(key);
  return SelectPolicies(kind, parts,
                        {.ns = ns, .labels = world_.client->labels, .selectors_of_gateways = selectors});
}

std::string_view View::Label(const Interned& key) {
  NoteAnswer({Part::kLabel, {}, key});
  return LabelOr(world_.client->labels, key);
}

std::optional<std::string_view> View::FindLabel(const Interned& key) {
  NoteAnswer({Part::kLabel, {}, key});
  const auto it = world_.client->labels.find(std::string_view(key));
  return it == world_.client->labels.end() ? std::nullopt : std::optional<std::string_view>(it->second);
}

bool View::IsLabelled() {
  NoteAnswer({Part::kIsLabelled});
  return !world_.client->labels.empty();
}

std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> View::proxy_config() {
  if (!proxy_class().has_proxy_config) {
    const model::MeshConfigPtr& mesh = settings(SettingsPart::kProxyConfig)->mesh;
    return {mesh, &mesh->default_config()};
  }
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  config->ParseFromString(proxy_class().proxy_config.str());
  return config;
}

bool View::HasLabel(const Interned& key, std::string_view value) { return FindLabel(key) == value; }

const model::Locality& View::locality() {
  NoteAnswer({Part::kLocality});
  return world_.client->locality;
}

const std::string& View::node_name() {
  NoteAnswer({Part::kNodeName});
  return world_.client->proxy->metadata.node_name;
}

const std::string& View::workload_name() {
  NoteAnswer({Part::kWorkloadName});
  return world_.client->proxy->metadata.workload_name;
}

const std::string& View::metadata_namespace() {
  NoteAnswer({Part::kMetadataNamespace});
  return world_.client->proxy->metadata.ns;
}

const std::string& View::domain() {
  NoteAnswer({Part::kDomain});
  return world_.client->proxy->domain;
}

std::string_view View::Annotation(const Interned& key) {
  NoteAnswer({Part::kAnnotation, {}, key});
  return model::RawEntry(world_.client->proxy->metadata, "ANNOTATIONS", key.str()).value_or("");
}

std::optional<std::string_view> View::Metadata(const Interned& key) {
  NoteAnswer({Part::kMetadata, {}, key});
  return model::RawText(world_.client->proxy->metadata, key.str());
}

const std::string& View::node_cluster() {
  NoteAnswer({Part::kNodeCluster});
  return world_.client->proxy->cluster;
}

const std::string& View::mesh_id() {
  NoteAnswer({Part::kMeshId});
  return world_.client->proxy->metadata.mesh_id;
}

bool View::HasAddress(const Interned& address) {
  NoteAnswer({Part::kHasAddress, {}, address});
  return world_.client->proxy->ip_addresses.front() == address.str();
}

const std::vector<ServiceTarget>& View::targets() {
  NoteAnswer({Part::kTargets});
  return *world_.client->targets;
}

const std::vector<ServiceTarget>& View::target_ports() {
  NoteAnswer({Part::kTargetPorts});
  return *world_.client->targets;
}

std::shared_ptr<const std::vector<GatewayPort>> View::gateway_ports() {
  return Note<std::vector<GatewayPort>>({Part::kGatewayPorts});
}

GatewayRoutePtr View::gateway_route(const Interned& name) {
  return Note<GatewayRoute>({Part::kGatewayRoute, {}, name});
}

std::shared_ptr<const std::vector<Interned>> View::gateway_names() {
  return Note<std::vector<Interned>>({Part::kGatewayNames});
}

std::shared_ptr<const std::vector<std::string>> View::gateway_passthrough_hosts() {
  return Note<std::vector<std::string>>({Part::kGatewayPassthroughHosts});
}

std::shared_ptr<const std::vector<GatewayServerPtr>> View::gateway_servers() {
  return Note<std::vector<GatewayServerPtr>>({Part::kGatewayServers});
}

const PeerAuthentication& View::own_mutual_tls() {
  NoteAnswer({Part::kOwnMutualTls});
  return *world_.client->peer_authentication;
}

const std::optional<model::PeerIdentity>& View::identity() {
  NoteAnswer({Part::kIdentity});
  return world_.client->proxy->identity;
}

const model::Proxy& View::proxy() {
  NoteAnswer({Part::kProxy});
  return *world_.client->proxy;
}

}  // namespace fairlead::mesh
