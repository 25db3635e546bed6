#include <google/protobuf/arena.h>

#include <memory>
#include <set>
#include <utility>

#include "cache/byte_cache.h"
#include "envoy/config/route/v3/route.pb.h"
#include "gen/gateway/build_routes.h"
#include "gen/gateway/collect_routes.h"
#include "gen/gateway/generators.h"
#include "gen/patch/apply.h"
#include "gen/patch/gateway_route_name.h"
#include "gen/patch/pool.h"
#include "gen/resource/unknown_answer.h"
#include "gen/route/build.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gen {
namespace gateway {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.RouteConfiguration";

// RDS for routers: "http.PORT" and "https.PORT.NAME.GATEWAY.NAMESPACE". Every name asked for is answered, one
// that no server has with a configuration without hosts: a listener that is draining still asks for it.
class RouteGenerator final : public Generator {
 public:
  explicit RouteGenerator(std::unique_ptr<Generator> others) : others_(std::move(others)) {}

  size_t PartCount() const override { return others_->PartCount(); }
  bool IsShared(size_t part) const override { return others_->IsShared(part); }

  Resources Generate(mesh::View& view, const Names* names, size_t part) override {
    if (view.proxy_class().type != model::ProxyType::kRouter) return others_->Generate(view, names, part);
    Resources out;
    if (names == nullptr || part != 0) return out;
    out.reserve(names->size());
    for (const std::string& name : *names) {
      if (view.gateway_route(name) == nullptr) {
        out.push_back(Unknown(name));  // names that clients make up are not kept
        continue;
      }
      out.push_back(view.Use(
          answers_, ScopeKey::Of(view, name), [&](mesh::View& of_name) { return Make(of_name, name); },
          SameResource));
    }
    return out;
  }

  void Sweep(Clock::time_point now) override {
    others_->Sweep(now);
    answers_.Sweep(now);
    virtual_services_.Sweep(now);
    routes_.Sweep(now);
    patched_.Sweep(now);
    patches_.Sweep(now);
  }

 private:
  static cache::ResourcePtr Unknown(const std::string& name) {
    return UnknownAnswer(cache::TypeId::kRoute, name, [&] {
      return EncodeBytes(name, kType, route::BuildUnknownRouteConfiguration(name));
    });
  }

  cache::ResourcePtr Make(mesh::View& view, const std::string& name) {
    const auto make = [this](const VirtualServiceInputs& inputs) {
      return virtual_services_.GetOrBuild(inputs, [](const VirtualServiceInputs& in) {
        return std::make_shared<const std::vector<EncodedRoute>>(BuildVirtualServiceRoutes(in));
      });
    };
    GatewayRouteInputs inputs = CollectRoute(view, name, view.gateway_route(name), make);
    if (patch::PatchSetPtr patches = patches_.Collect(view, patch::Side::kGateway)) {
      inputs.matched_ports = MatchedPorts(view, name);
      return patched_.GetOrBuild({std::move(inputs), std::move(patches)}, Patched);
    }
    return routes_.GetOrBuild(inputs, [](const GatewayRouteInputs& in) {
      return EncodeBytes(in.name, kType, BuildGatewayRouteConfiguration(in), Audience::kMany,
                         OriginsOf(in).Take());
    });
  }

  static cache::ResourcePtr Patched(const patch::Patched<GatewayRouteInputs>& in) {
    google::protobuf::Arena arena;
    auto* routes =
        google::protobuf::Arena::CreateMessage<envoy::config::route::v3::RouteConfiguration>(&arena);
    routes->ParseFromString(BuildGatewayRouteConfiguration(in.inputs));
    patch::PatchOutcome outcome;
    patch::PatchRoutes(*in.patches, &in.inputs.matched_ports, routes, &outcome);
    outcome.Report();
    OriginList origins = OriginsOf(in.inputs);
    patch::AddOrigins(*in.patches, &origins);
    return Encode(in.inputs.name, *routes, Audience::kMany, origins.Take());
  }

  static OriginList OriginsOf(const GatewayRouteInputs& inputs) {
    OriginList origins;
    for (const mesh::GatewayServerPtr& server : inputs.route->servers) origins.Add(server->gateway);
    for (const HostBinding& binding : inputs.bindings) origins.Add(binding.virtual_service);
    return origins;
  }

  // The ports, as Gateways number them, of the servers of every route with the number that is in this one's
  // name. Source: Istio's GatewayPortMap.
  static patch::GatewayPorts MatchedPorts(mesh::View& view, const std::string& name) {
    const uint32_t number = patch::ParseGatewayRouteName(name).port;
    std::set<uint32_t> ports;
    for (const mesh::GatewayPort& port : *view.gateway_ports()) {
      for (const mesh::GatewayServerPtr& server : port.servers) {
        const std::string& route = server->route_name;
        if (!route.empty() && patch::ParseGatewayRouteName(route).port == number)
          ports.insert(server->spec().port().number());
      }
    }
    return {ports.begin(), ports.end()};
  }

  const std::unique_ptr<Generator> others_;
  cache::RecordedCache<ScopeKey, cache::Resource, mesh::Reads> answers_;
  cache::ByteCache<VirtualServiceInputs, std::vector<EncodedRoute>> virtual_services_;
  cache::ByteCache<GatewayRouteInputs> routes_;
  cache::ByteCache<patch::Patched<GatewayRouteInputs>> patched_;
  patch::PatchPool patches_{patch::Stage::kRoutes};
};

}  // namespace
}  // namespace gateway

std::unique_ptr<Generator> NewGatewayRouteGenerator(std::unique_ptr<Generator> others) {
  return std::make_unique<gateway::RouteGenerator>(std::move(others));
}

}  // namespace fairlead::gen
