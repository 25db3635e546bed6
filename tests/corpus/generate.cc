#include "tests/corpus/generate.h"

#include <set>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/gateway/generators.h"
#include "gen/grpc/generators.h"
#include "google/protobuf/any.pb.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxyless.h"
#include "xds/referred_names.h"

namespace fairlead::corpus {
namespace {

using envoy::config::route::v3::RouteConfiguration;

// The names that Envoy goes on to ask for.
std::vector<std::string> EndpointNames(const std::vector<cache::ResourcePtr>& clusters) {
  return xds::ReferredNames(clusters, xds::TypeId::kEndpoint);
}

std::vector<std::string> RouteNames(const std::vector<cache::ResourcePtr>& listeners) {
  return xds::ReferredNames(listeners, xds::TypeId::kRoute);
}

std::vector<std::string> SecretNames(const Resources& resources) {
  std::vector<cache::ResourcePtr> referring = resources.at("clusters");
  referring.insert(referring.end(), resources.at("listeners").begin(), resources.at("listeners").end());
  return xds::ReferredNames(referring, xds::TypeId::kSecret);
}

std::vector<std::string> ExtensionNames(const std::vector<cache::ResourcePtr>& listeners) {
  return xds::ReferredNames(listeners, xds::TypeId::kExtension);
}

// The clusters that a gRPC client goes on to ask for.
std::vector<std::string> ClusterNames(const std::vector<cache::ResourcePtr>& routes) {
  std::set<std::string> names;
  for (const auto& resource : routes) {
    google::protobuf::Any any;
    any.ParseFromString(resource->any.Unpacked());
    RouteConfiguration configuration;
    any.UnpackTo(&configuration);
    for (const auto& host : configuration.virtual_hosts()) {
      for (const auto& route : host.routes()) {
        if (!route.route().cluster().empty()) names.insert(route.route().cluster());
        for (const auto& cluster : route.route().weighted_clusters().clusters()) names.insert(cluster.name());
      }
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> GoldenNames(const nlohmann::json& golden, const char* kind, const char* key) {
  std::vector<std::string> names;
  for (const auto& resource : golden.value(kind, nlohmann::json::array()))
    names.push_back(resource.value(key, ""));
  return names;
}

}  // namespace

Generators::Generators()
    : clusters_(gen::NewClusterGenerator()),
      endpoints_(gen::NewEndpointGenerator()),
      listeners_(gen::NewGatewayListenerGenerator(gen::NewListenerGenerator())),
      routes_(gen::NewGatewayRouteGenerator(gen::NewRouteGenerator())),
      secrets_(gen::NewSecretGenerator()),
      extensions_(gen::NewExtensionGenerator()),
      name_table_(gen::NewNameTableGenerator()),
      grpc_clusters_(gen::NewGrpcClusterGenerator()),
      grpc_listeners_(gen::NewGrpcListenerGenerator()),
      grpc_routes_(gen::NewGrpcRouteGenerator()) {}

// A gRPC client goes from listeners to routes to clusters to endpoints.
Resources Generators::ForProxyless(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope) {
  Resources out;
  out["listeners"] = gen::GenerateFor(*grpc_listeners_, snapshot, scope, nullptr);
  const auto routes = RouteNames(out["listeners"]);
  out["routes"] = gen::GenerateFor(*grpc_routes_, snapshot, scope, &routes);
  const auto clusters = ClusterNames(out["routes"]);
  out["clusters"] = gen::GenerateFor(*grpc_clusters_, snapshot, scope, &clusters);
  const auto endpoints = EndpointNames(out["clusters"]);
  out["endpoints"] = gen::GenerateFor(*endpoints_, snapshot, scope, &endpoints);
  return out;
}

Resources Generators::For(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                          const nlohmann::json* golden) {
  const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(snapshot, proxy);
  if (model::IsProxyless(*proxy)) return ForProxyless(snapshot, *scope);
  Resources out;
  out["clusters"] = gen::GenerateFor(*clusters_, snapshot, *scope, nullptr);
  const auto endpoints =
      golden ? GoldenNames(*golden, "endpoints", "cluster_name") : EndpointNames(out["clusters"]);
  if (!endpoints.empty()) out["endpoints"] = gen::GenerateFor(*endpoints_, snapshot, *scope, &endpoints);
  out["listeners"] = gen::GenerateFor(*listeners_, snapshot, *scope, nullptr);
  const auto routes = golden ? GoldenNames(*golden, "routes", "name") : RouteNames(out["listeners"]);
  if (!routes.empty()) out["routes"] = gen::GenerateFor(*routes_, snapshot, *scope, &routes);
  const auto secrets = golden ? GoldenNames(*golden, "secrets", "name") : SecretNames(out);
  if (!secrets.empty()) out["secrets"] = gen::GenerateFor(*secrets_, snapshot, *scope, &secrets);
  const auto extensions =
      golden ? GoldenNames(*golden, "extensions", "name") : ExtensionNames(out["listeners"]);
  if (!extensions.empty()) out["extensions"] = gen::GenerateFor(*extensions_, snapshot, *scope, &extensions);
  return out;
}

cache::ResourcePtr Generators::NameTable(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy) {
  return gen::GenerateFor(*name_table_, snapshot, *mesh::ComputeProxyScope(snapshot, proxy), nullptr).at(0);
}

std::map<std::string, std::vector<std::string>> AskedFor(const Resources& resources) {
  return {{"endpoints", EndpointNames(resources.at("clusters"))},
          {"routes", RouteNames(resources.at("listeners"))}};
}

}  // namespace fairlead::corpus
