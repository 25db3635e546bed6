#include "registry/kubernetes/cluster_set.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "debug/page_json.h"
#include "debug/tables.h"
#include "push/stream/pusher.h"
#include "registry/kubernetes/service.h"

// Multi-cluster services.
namespace fairlead::debug {
namespace {

using config::Kind;
using config::ObjectStore;
using registry::Name;

// One cluster, as its objects name it.
struct Place {
  const ObjectStore& objects;
  const model::Settings& settings;
  Interned cluster;

  std::string Id() const { return cluster.empty() ? settings.cluster_id : cluster.str(); }
  bool Has(Kind kind, const Name& name) const {
    return objects.Find(kind, name.first, name.second, cluster) != nullptr;
  }
};

// The first address of the import, where some cluster has the Service.
std::string AddressOf(const Place& place, const Name& name) {
  const config::ConfigPtr object =
      place.objects.Find(Kind::kServiceImport, name.first, name.second, place.cluster);
  if (object == nullptr) return "";
  std::vector<Interned> clusters = place.objects.OtherClusters();
  clusters.emplace_back();
  const bool served = std::any_of(clusters.begin(), clusters.end(), [&](const Interned& cluster) {
    return place.objects.Find(Kind::kService, name.first, name.second, cluster) != nullptr;
  });
  const std::vector<std::string> addresses = registry::ImportedAddresses(*object);
  return served && !addresses.empty() ? addresses.front() : "";
}

// By host, who may have the cluster's endpoints. Only of what the cluster exports.
Json Discoverability(const Place& place, const Name& name, bool imported) {
  const model::Features& features = place.settings.features;
  Json hosts = Json::object();
  const std::string& service = name.second.str();
  const std::string& ns = name.first.str();
  if (place.Has(Kind::kService, name)) {
    hosts[registry::KubernetesHostname(service, ns, place.settings.domain)] =
        features.mcs_cluster_local ? "DiscoverableFromSameCluster" : "AlwaysDiscoverable";
  }
  if (imported) hosts[registry::ClusterSetHostname(service, ns)] = "AlwaysDiscoverable";
  return hosts;
}

// As istiod's MCSServiceInfo.
Json InfoOf(const Place& place, const Name& name) {
  const model::Features& features = place.settings.features;
  const bool exported = place.Has(Kind::kServiceExport, name);
  const std::string address = features.mcs_hosts ? AddressOf(place, name) : "";
  return {{"Cluster", place.Id()},
          {"Name", name.second.str()},
          {"Namespace", name.first.str()},
          {"Exported", exported},
          {"Imported", features.mcs_hosts && place.Has(Kind::kServiceImport, name)},
          {"ClusterSetVIP", address},
          {"Discoverability", exported ? Discoverability(place, name, !address.empty()) : Json()}};
}

void AppendCluster(const Place& place, const std::string& only, Json* all) {
  std::vector<Name> names;
  for (const Kind kind : {Kind::kServiceExport, Kind::kServiceImport}) {
    if (kind == Kind::kServiceImport && !place.settings.features.mcs_hosts) continue;
    for (const auto& [name, object] : place.objects.All(kind, place.cluster)) {
      if (only.empty() || name.first == only) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const Name& name : names) all->push_back(InfoOf(place, name));
}

}  // namespace

// By cluster, namespace and name.
Page MultiClusterPage(const Sources& sources, const Query& query) {
  Json all = Json::array();
  const mesh::SnapshotPtr snapshot = sources.pusher->Snapshot();
  if (snapshot == nullptr || !snapshot->settings->features.mcs_discovery) return JsonPage(all, query);
  const ObjectStore objects = sources.store();
  std::map<std::string, Interned> clusters{{snapshot->settings->cluster_id, Interned()}};
  for (const Interned& cluster : objects.OtherClusters()) clusters.emplace(cluster.str(), cluster);
  for (const auto& [id, cluster] : clusters)
    AppendCluster({objects, *snapshot->settings, cluster}, Value(query, "namespace"), &all);
  return JsonPage(std::move(all), query);
}

}  // namespace fairlead::debug
