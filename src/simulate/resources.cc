#include "simulate/resources.h"

#include <set>
#include <utility>

#include "base/strings.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/generator.h"
#include "google/protobuf/any.pb.h"

namespace fairlead::simulate {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::endpoint::v3::ClusterLoadAssignment;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::Listener;
using envoy::config::route::v3::RouteConfiguration;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

void AddRouteNames(const FilterChain& chain, std::set<std::string>* names) {
  for (const auto& filter : chain.filters()) {
    HttpConnectionManager manager;
    if (filter.typed_config().Is<HttpConnectionManager>() && filter.typed_config().UnpackTo(&manager) &&
        manager.has_rds()) {
      names->insert(manager.rds().route_config_name());
    }
  }
}

std::vector<std::string> RouteNames(const ProxyResources& resources) {
  std::set<std::string> names;
  for (const Listener& listener : resources.listeners) {
    for (const FilterChain& chain : listener.filter_chains()) AddRouteNames(chain, &names);
    AddRouteNames(listener.default_filter_chain(), &names);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> EndpointNames(const ProxyResources& resources) {
  std::vector<std::string> names;
  for (const auto& [name, cluster] : resources.clusters) {
    if (cluster.type() != Cluster::EDS) continue;
    const std::string& service = cluster.eds_cluster_config().service_name();
    names.push_back(service.empty() ? name : service);
  }
  return names;
}

void AddAll(const std::vector<cache::ResourcePtr>& resources, ProxyResources* out) {
  for (const cache::ResourcePtr& resource : resources) {
    google::protobuf::Any any;
    // Both are of our own making: a resource that cannot be decoded is one that no generator makes.
    if (any.ParseFromString(resource->any)) out->Add(any).IgnoreError();
  }
}

}  // namespace

absl::Status ProxyResources::Add(const google::protobuf::Any& resource) {
  Listener listener;
  RouteConfiguration route;
  Cluster cluster;
  ClusterLoadAssignment assignment;
  if (resource.Is<Listener>() && resource.UnpackTo(&listener)) {
    listeners.push_back(std::move(listener));
  } else if (resource.Is<RouteConfiguration>() && resource.UnpackTo(&route)) {
    routes.insert_or_assign(route.name(), route);
  } else if (resource.Is<Cluster>() && resource.UnpackTo(&cluster)) {
    clusters.insert_or_assign(cluster.name(), cluster);
  } else if (resource.Is<ClusterLoadAssignment>() && resource.UnpackTo(&assignment)) {
    endpoints.insert_or_assign(assignment.cluster_name(), assignment);
  } else {
    return absl::InvalidArgumentError(
        StrCat("not a listener, route configuration, cluster or load assignment: ", resource.type_url()));
  }
  return absl::OkStatus();
}

ProxyResources ResourcesOf(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  ProxyResources out;
  AddAll(gen::NewClusterGenerator()->Generate({snapshot, scope, nullptr}), &out);
  AddAll(gen::NewListenerGenerator()->Generate({snapshot, scope, nullptr}), &out);
  const std::vector<std::string> endpoints = EndpointNames(out);
  if (!endpoints.empty()) AddAll(gen::NewEndpointGenerator()->Generate({snapshot, scope, &endpoints}), &out);
  const std::vector<std::string> routes = RouteNames(out);
  if (!routes.empty()) AddAll(gen::NewRouteGenerator()->Generate({snapshot, scope, &routes}), &out);
  return out;
}

}  // namespace fairlead::simulate
