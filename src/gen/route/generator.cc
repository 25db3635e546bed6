#include "gen/generator.h"

#include <memory>

#include "gen/naming/unknown_answer.h"
#include "gen/route/answer_generator.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"
#include "gen/route/route_name.h"

namespace fairlead::gen {
namespace route {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.RouteConfiguration";

// Every name asked for is answered, a name that stands for nothing with a configuration without hosts.
class RouteGenerator final : public AnswerGenerator<Inputs> {
 protected:
  bool Serves(const Request& request) const override {
    return request.scope.proxy->type != model::ProxyType::kRouter;
  }
  bool Remembers(const Question& question) const override {
    return ParseRouteName(question.name).kind != RouteName::Kind::kUnknown;
  }
  cache::ResourcePtr Make(const mesh::SidecarScope& scope, const Question& question) override {
    if (ParseRouteName(question.name).kind == RouteName::Kind::kUnknown) {
      return UnknownAnswer(cache::TypeId::kRoute, question.name, [&] {
        return EncodeBytes(question.name, kType, BuildUnknownRouteConfiguration(question.name));
      });
    }
    const Inputs inputs =
        CollectInputs(scope, question.client, question.labels, question.settings, question.name);
    return cache_.GetOrBuild(inputs, [&](const Inputs& in) {
      return EncodeBytes(in.name, kType, BuildOutboundRouteConfiguration(in, *hosts_.Get(in.hosts)));
    });
  }
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewRouteGenerator() { return std::make_unique<route::RouteGenerator>(); }

}  // namespace fairlead::gen
