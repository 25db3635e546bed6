#include "base/strings.h"
#include "debug/object_json.h"
#include "debug/page_json.h"
#include "debug/tables.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/protocol.h"
#include "push/stream/pusher.h"

// The mesh as it is served: services, endpoints, objects, settings.
namespace fairlead::debug {
namespace {

using model::Registry;

std::string_view RegistryName(Registry registry) {
  return registry == Registry::kKubernetes ? "Kubernetes" : "External";
}

Json Attributes(const model::Service& service, const std::string& cluster) {
  Json out = {{"ServiceRegistry", RegistryName(service.registry)},
              {"Name", service.name},
              {"Namespace", service.ns.str()},
              {"Labels", LabelsJson(service.labels)},
              {"ExportTo", Json::array()},
              {"LabelSelectors", LabelsJson(service.selector)},
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

// The id of the cluster that a service is of.
std::string ClusterId(const model::Service& service, const std::string& own) {
  const Interned cluster = service.cluster();
  return cluster.empty() ? own : cluster.str();
}

// Of all clusters that have the service.
Json ClusterVipsJson(const model::Service& service, const std::string& own_cluster) {
  Json out = {{ClusterId(service, own_cluster), service.cluster_vips}};
  for (const model::ServicePtr& one : service.in_other_clusters)
    out[ClusterId(*one, own_cluster)] = one->cluster_vips;
  return out;
}

Json ServiceJson(const model::Service& service, const std::string& own_cluster) {
  Json out = {{"Attributes", Attributes(service, ClusterId(service, own_cluster))}};
  for (const model::ServicePort& port : service.ports) {
    out["ports"].push_back(
        {{"name", port.name}, {"port", port.port}, {"protocol", model::ToString(port.protocol)}});
  }
  if (!service.service_accounts.empty()) out["serviceAccounts"] = service.service_accounts;
  out["creationTime"] = AgeText(service.creation_time);
  out["hostname"] = service.hostname.str();
  if (!service.cluster_vips.empty()) out["clusterVIPs"]["Addresses"] = ClusterVipsJson(service, own_cluster);
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
  return {{"Labels", LabelsJson(workload.labels)},
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

}  // namespace

Page RegistryPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
  Json out = Json::array();
  for (const model::ServicePtr& service : snapshot->services->All())
    out.push_back(ServiceJson(*service, snapshot->settings->cluster_id));
  return JsonPage(out, query);
}

Page EndpointsPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
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
  return statuses.is_null() ? NothingYet() : JsonPage(statuses, query);
}

Page MeshPage(const Sources& sources, const Query& query) {
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr) return NothingYet();
  return JsonPage(
      MessageJson("istio.mesh.v1alpha1.MeshConfig", snapshot->settings->mesh->SerializeAsString()), query);
}

Page KindsPage(const Sources&, const Query& query) {
  Json out = Json::array();
  for (const config::KindInfo& kind : config::AllKinds()) {
    out.push_back({{"Group", kind.group}, {"Version", kind.versions.front()}, {"Kind", kind.name}});
  }
  return JsonPage(out, query);
}

}  // namespace fairlead::debug
