#include "gen/generator.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "gen/route/build.h"
#include "gen/route/collect.h"
#include "gen/route/host_cache.h"
#include "gen/route/route_name.h"
#include "gen/route/scope_memo.h"

namespace fairlead::gen {
namespace route {
namespace {

constexpr std::string_view kType = "envoy.config.route.v3.RouteConfiguration";

// Route configurations by name: every name asked for is answered, a name that stands for nothing with a
// configuration without hosts. Three layers save work: what a scope answered before, equal inputs, and the
// virtual hosts of a port.
class RouteGenerator final : public Generator {
 public:
  std::vector<cache::ResourcePtr> Generate(const Request& request) override {
    std::vector<cache::ResourcePtr> out;
    if (request.names == nullptr || request.scope.proxy->type == model::ProxyType::kRouter) return out;
    const ScopeMemo::ScopePtr answers = memo_.For(request.scope.sidecar);
    const model::SettingsPtr& settings = request.snapshot.settings;
    const Question question{TraitsOf(request.scope, *settings),
                            answers->labels_matter() ? request.scope.labels : LabelMap(),
                            settings,
                            {}};
    out.reserve(request.names->size());
    for (const std::string& name : *request.names) out.push_back(Answer(request, *answers, question, name));
    return out;
  }

  PartStamp Stamp(const Request& request, size_t /*part*/) const override {
    return {request.scope.own_id, request.scope.sidecar->id, request.snapshot.revisions.settings};
  }

  std::optional<std::string> PartKey(const Request& request, size_t /*part*/) override {
    if (request.scope.proxy->type == model::ProxyType::kRouter) return std::nullopt;
    const bool labels_matter = memo_.For(request.scope.sidecar)->labels_matter();
    return SharingKey(*request.scope.sidecar, TraitsOf(request.scope, *request.snapshot.settings),
                      labels_matter ? request.scope.labels : LabelMap());
  }

  void Sweep() override {
    memo_.Sweep();
    hosts_.Sweep();
    cache_.Sweep();
  }

 private:
  cache::ResourcePtr Answer(const Request& request, ScopeMemo::Scope& answers, Question question,
                            const std::string& name) {
    question.name = name;
    if (cache::ResourcePtr known = answers.Find(question)) return known;
    cache::ResourcePtr resource = Make(*request.scope.sidecar, question);
    answers.Keep(std::move(question), resource);
    return resource;
  }

  cache::ResourcePtr Make(const mesh::SidecarScope& scope, const Question& question) {
    if (ParseRouteName(question.name).kind == RouteName::Kind::kUnknown) {
      return EncodeBytes(question.name, kType, BuildUnknownRouteConfiguration(question.name));
    }
    const Inputs inputs =
        CollectInputs(scope, question.client, question.labels, question.settings, question.name);
    return cache_.GetOrBuild(inputs, [&](const Inputs& in) {
      return EncodeBytes(in.name, kType, BuildOutboundRouteConfiguration(in, *hosts_.Get(in.hosts)));
    });
  }

  ScopeMemo memo_;
  HostCache hosts_;
  cache::ByteCache<Inputs> cache_;
};

}  // namespace
}  // namespace route

std::unique_ptr<Generator> NewRouteGenerator() { return std::make_unique<route::RouteGenerator>(); }

}  // namespace fairlead::gen
