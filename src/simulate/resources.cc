#include "simulate/resources.h"

#include <utility>

#include "base/strings.h"
#include "gen/gateway/generators.h"
#include "gen/generator.h"
#include "google/protobuf/any.pb.h"
#include "xds/referred_names.h"

namespace fairlead::simulate {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::endpoint::v3::ClusterLoadAssignment;
using envoy::config::listener::v3::Listener;
using envoy::config::route::v3::RouteConfiguration;

void AddAll(const std::vector<cache::ResourcePtr>& resources, ProxyResources* out) {
  for (const cache::ResourcePtr& resource : resources) {
    google::protobuf::Any any;
    // Both are of our own making: a resource that cannot be decoded is one that no generator makes.
    if (any.ParseFromString(resource->any.Unpacked())) out->Add(any).IgnoreError();
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
  using xds::TypeId;
  const auto clusters = gen::GenerateFor(*gen::NewClusterGenerator(), snapshot, scope, nullptr);
  const auto listeners = gen::GenerateFor(*gen::NewGatewayListenerGenerator(gen::NewListenerGenerator()),
                                          snapshot, scope, nullptr);
  const auto endpoints = xds::ReferredNames(clusters, TypeId::kEndpoint);
  const auto routes = xds::ReferredNames(listeners, TypeId::kRoute);
  ProxyResources out;
  AddAll(clusters, &out);
  AddAll(listeners, &out);
  if (!endpoints.empty())
    AddAll(gen::GenerateFor(*gen::NewEndpointGenerator(), snapshot, scope, &endpoints), &out);
  if (!routes.empty()) {
    const auto generator = gen::NewGatewayRouteGenerator(gen::NewRouteGenerator());
    AddAll(gen::GenerateFor(*generator, snapshot, scope, &routes), &out);
  }
  return out;
}

}  // namespace fairlead::simulate
