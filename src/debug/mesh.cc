#include <google/protobuf/message.h>

#include "base/strings.h"
#include "config/tree.h"
#include "config/tree_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/protocol.h"
#include "push/pusher.h"

// The mesh as it is served: services, endpoints, objects, settings.
namespace fairlead::debug {
namespace {

using model::Registry;

constexpr char kNothingYet[] = "The sources have not been read yet.\n";

std::string_view RegistryName(Registry registry) {
  return registry == Registry::kKubernetes ? "Kubernetes" : "External";
}

std::string TimeOf(int64_t unix_seconds) {
  if (unix_seconds == std::numeric_limits<int64_t>::max()) unix_seconds = 0;
  return TimeText(std::chrono::system_clock::time_point(std::chrono::seconds(unix_seconds)));
}

Json Labels(const LabelMap& labels) {
  Json out = Json::object();
  for (const auto& [key, value] : labels) out[std::string(std::string_view(key))] = std::string_view(value);
  return out;
}

Json Attributes(const model::Service& service, const std::string& cluster) {
  Json out = {{"ServiceRegistry", RegistryName(service.registry)},
              {"Name", service.name},
              {"Namespace", service.ns.str()},
              {"Labels", Labels(service.labels)},
              {"ExportTo", Json::array()},
              {"LabelSelectors", Labels(service.selector)},
              {"Aliases", Json::array()},
              {"ClusterExternalAddresses", Json::object()},
              {"ClusterExternalPorts", Json::object()}};
  if (service.visibility.everywhere) out["ExportTo"].push_back("*");
  for (const std::string& ns : service.visibility.namespaces) out["ExportTo"].push_back(ns);
  for (const model::NamespacedHost& alias : service.aliases) {
    out["Aliases"].push_back({{"Hostname", alias.hostname}, {"Namespace", alias.ns}});
  }
  if (!service.external_addresses.empty()) {
    out["ClusterExternalAddresses"]["Addresses"][cluster] = service.external_addresses;
  }
  for (const auto& [port, node_port] : service.node_ports) {
    out["ClusterExternalPorts"][cluster][StrCat(port)] = node_port;
  }
  return out;
}

Json ServiceJson(const model::Service& service, const std::string& cluster) {
  Json out = {{"Attributes", Attributes(service, cluster)}};
  for (const model::ServicePort& port : service.ports) {
    out["ports"].push_back(
        {{"name", port.name}, {"port", port.port}, {"protocol", model::ToString(port.protocol)}});
  }
  if (!service.service_accounts.empty()) out["serviceAccounts"] = service.service_accounts;
  out["creationTime"] = TimeOf(service.creation_time);
  out["hostname"] = service.hostname.str();
  if (!service.cluster_vips.empty()) out["clusterVIPs"]["Addresses"][cluster] = service.cluster_vips;
  out["defaultAddress"] = service.address;
  if (!service.auto_allocated_ipv4.empty()) out["autoAllocatedIPv4Address"] = service.auto_allocated_ipv4;
  if (!service.auto_allocated_ipv6.empty()) out["autoAllocatedIPv6Address"] = service.auto_allocated_ipv6;
  out["Resolution"] = static_cast<int>(service.resolution);
  out["MeshExternal"] = service.mesh_external;
  out["ResourceVersion"] = service.source == nullptr ? "" : service.source->meta().resource_version;
  return out;
}

// istiod's numbers of HealthStatus.
int HealthNumber(model::Health health) {
  switch (health) {
    case model::Health::kUnknown:
    case model::Health::kHealthy:
      return 0;
    case model::Health::kUnhealthy:
      return 1;
    case model::Health::kDraining:
      return 2;
    case model::Health::kTerminating:
      return 3;
  }
  return 0;
}

Json EndpointJson(const model::Endpoint& endpoint) {
  const model::Workload& workload = *endpoint.workload;
  Json addresses = Json::array();
  for (const Interned& address : endpoint.addresses) addresses.push_back(address.str());
  return {{"Labels", Labels(workload.labels)},
          {"Addresses", std::move(addresses)},
          {"ServicePortName", endpoint.port_name.str()},
          {"LegacyClusterPortKey", endpoint.service_port},
          {"ServiceAccount", workload.service_account.str()},
          {"Network", workload.network.str()},
          {"Locality", {{"Label", workload.locality_label.str()}, {"ClusterID", workload.cluster.str()}}},
          {"EndpointPort", endpoint.port},
          {"LbWeight", endpoint.weight},
          {"TLSMode", workload.tls_mode.str()},
          {"Namespace", workload.ns.str()},
          {"WorkloadName", workload.name.str()},
          {"HostName", workload.hostname.str()},
          {"SubDomain", workload.subdomain.str()},
          {"HealthStatus", HealthNumber(endpoint.health)},
          {"NodeName", workload.node_name.str()}};
}

Json ShardsJson(const model::ServiceEndpoints& endpoints) {
  Json shards = Json::object();
  for (const model::EndpointShard& shard : endpoints.shards) {
    const auto registry = static_cast<Registry>(shard.registry);
    Json& list = shards[StrCat(RegistryName(registry), "/", shard.cluster.str())] = Json::array();
    for (const model::Endpoint& endpoint : shard.endpoints) list.push_back(EndpointJson(endpoint));
  }
  return {{"Shards", std::move(shards)}, {"ServiceAccounts", endpoints.service_accounts}};
}

Json SpecJson(const config::ConfigObject& object, const config::KindInfo& kind) {
  if (kind.payload == config::PayloadType::kTree)
    return config::ToJson(object.Spec<config::Tree>().Find("spec"));
  return MessageJson(kind.message, object.Spec<google::protobuf::Message>().SerializeAsString());
}

// As kubectl shows an object.
Json ObjectJson(const config::ConfigObject& object) {
  const config::KindInfo& kind = config::InfoOf(object.kind());
  const config::ObjectMeta& meta = object.meta();
  Json metadata = {{"name", meta.name.str()}};
  if (!meta.ns.empty()) metadata["namespace"] = meta.ns.str();
  if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
  if (!meta.uid.empty()) metadata["uid"] = meta.uid;
  if (meta.generation != 0) metadata["generation"] = meta.generation;
  if (meta.creation_time != std::numeric_limits<int64_t>::max()) {
    metadata["creationTimestamp"] = TimeOf(meta.creation_time);
  }
  if (!meta.labels.empty()) metadata["labels"] = Labels(meta.labels);
  if (!meta.annotations.empty()) metadata["annotations"] = Labels(meta.annotations);
  return {{"kind", kind.name},
          {"apiVersion", StrCat(kind.group, "/", kind.versions.front())},
          {"metadata", std::move(metadata)},
          {"spec", SpecJson(object, kind)}};
}

}  // namespace

Page RegistryPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return TextPage(503, kNothingYet);
  Json out = Json::array();
  for (const model::ServicePtr& service : snapshot->services->All())
    out.push_back(ServiceJson(*service, snapshot->settings->cluster_id));
  return JsonPage(out, query);
}

Page EndpointsPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return TextPage(503, kNothingYet);
  Json out = Json::object();
  for (const model::ServicePtr& service : snapshot->services->All()) {
    const auto endpoints = snapshot->endpoints->Find(service->hostname, service->ns);
    if (endpoints != nullptr) out[service->hostname.str()][service->ns.str()] = ShardsJson(*endpoints);
  }
  return JsonPage(out, query);
}

Page ConfigPage(const Sources& sources, const Query& query) {
  Json out = Json::array();
  for (const config::ConfigPtr& object : sources.objects()) {
    if (config::InfoOf(object->kind()).payload != config::PayloadType::kStruct)
      out.push_back(ObjectJson(*object));
  }
  return JsonPage(out, query);
}

Page StatusPage(const Sources& sources, const Query& query) {
  const Json statuses = sources.statuses();
  return statuses.is_null() ? TextPage(503, kNothingYet) : JsonPage(statuses, query);
}

Page MeshPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return TextPage(503, kNothingYet);
  return JsonPage(
      MessageJson("istio.mesh.v1alpha1.MeshConfig", snapshot->settings->mesh->SerializeAsString()), query);
}

// Of istiod's findings, the one that a snapshot tells: services without any endpoint, by their clusters.
Page PushStatusPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return TextPage(503, kNothingYet);
  Json out = Json::object();
  for (const model::ServicePtr& service : snapshot->services->All()) {
    const bool looked_up = service->resolution == model::Resolution::kClientSideLb;
    if (!looked_up || snapshot->endpoints->Find(service->hostname, service->ns) != nullptr) continue;
    for (const model::ServicePort& port : service->ports) {
      out["pilot_eds_no_instances"][StrCat("outbound|", port.port, "||", service->hostname.str())] =
          Json::object();
    }
  }
  return JsonPage(out, query);
}

Page KindsPage(const Sources&, const Query& query) {
  Json out = Json::array();
  for (const config::KindInfo& kind : config::AllKinds()) {
    out.push_back({{"Group", kind.group}, {"Version", kind.versions.front()}, {"Kind", kind.name}});
  }
  return JsonPage(out, query);
}

}  // namespace fairlead::debug
