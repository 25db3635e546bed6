#include "gen/generator.h"

#include <google/protobuf/arena.h>

#include <memory>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/patch/pool.h"
#include "gen/resource/unknown_answer.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"
#include "gen/route/named_routes.h"
#include "gen/route/patched.h"
#include "gen/route/route_name.h"

namespace fairlead::gen {
namespace route {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.RouteConfiguration";

// RDS for sidecars. Every name asked for is answered, a name that stands for nothing with a configuration
// without hosts.
class RouteGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr || view.proxy_class().type == model::ProxyType::kRouter) return out;
    out.reserve(names->size());
    for (const std::string& name : *names) {
      out.push_back(IsUnknown(name) ? Unknown(name) : named_routes_.Get(view, name, [&](mesh::View& of_name) {
        return Make(of_name, name);
      }));
    }
    return out;
  }

  void Sweep(Clock::time_point now) override {
    named_routes_.Sweep(now);
    hosts_.Sweep(now);
    cache_.Sweep(now);
    patched_.Sweep(now);
    patches_.Sweep(now);
  }

 private:
  static bool IsUnknown(const std::string& name) {
    return ParseRouteName(name).kind == RouteName::Kind::kUnknown;
  }
  // Names that clients make up are not kept.
  static cache::ResourcePtr Unknown(const std::string& name) {
    return UnknownAnswer(cache::TypeId::kRoute, name,
                         [&] { return EncodeBytes(name, kType, BuildUnknownRouteConfiguration(name)); });
  }

  static OriginList OriginsOf(const Inputs& inputs) {
    OriginList origins;
    if (inputs.hosts != nullptr) AddOrigins(*inputs.hosts, &origins);
    return origins;
  }

  cache::ResourcePtr Make(mesh::View& view, const std::string& name) {
    const Inputs inputs = CollectInputs(view, name);
    if (patch::PatchSetPtr patches = patches_.Collect(view, patch::Side::kOutbound)) {
      return patched_.GetOrBuild({inputs, std::move(patches)}, [&](const patch::Patched<Inputs>& in) {
        google::protobuf::Arena arena;
        OriginList origins = OriginsOf(in.inputs);
        patch::AddOrigins(*in.patches, &origins);
        return Encode(name, *PatchedRouteConfiguration(in, *hosts_.Get(in.inputs.hosts), &arena),
                      Audience::kMany, origins.Take());
      });
    }
    return cache_.GetOrBuild(inputs, [&](const Inputs& in) {
      return EncodeBytes(in.name, kType, BuildOutboundRouteConfiguration(in, *hosts_.Get(in.hosts)),
                         Audience::kMany, OriginsOf(in).Take());
    });
  }

  NamedRoutes named_routes_;
  HostCache hosts_;
  cache::ByteCache<Inputs> cache_;
  cache::ByteCache<patch::Patched<Inputs>> patched_;
  patch::PatchPool patches_{patch::Stage::kRoutes};
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewRouteGenerator() { return std::make_unique<route::RouteGenerator>(); }

}  // namespace fairlead::gen
