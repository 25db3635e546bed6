#include "gateway_api/status/status_view.h"

#include <algorithm>

namespace fairlead::gateway_api {
namespace {

using config::ConfigPtr;
using config::Kind;
using config::ObjectKey;

template <typename Conversions>
typename Conversions::Entry::second_type Find(const Conversions& conversions, const ObjectKey& key) {
  const auto* found = conversions.Find(key);
  return found == nullptr ? nullptr : *found;
}

}  // namespace

const model::Settings& StatusView::settings() {
  Note(About::kSettings, {});
  return *inputs_.snapshot.settings;
}

ConfigPtr StatusView::Find(Kind kind, const Interned& ns, const Interned& name) {
  Note(About::kObject, {kind, ns, name});
  return inputs_.objects.Find(kind, ns, name);
}

std::vector<ConfigPtr> StatusView::In(Kind kind, const Interned& ns) {
  Note(About::kNamespace, {kind, ns, {}});
  const auto& all = inputs_.objects.All(kind);
  std::vector<ConfigPtr> found;
  for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at)
    found.push_back(at->second);
  return found;
}

GatewayConversionPtr StatusView::Gateway(const ObjectKey& key) {
  Note(About::kConversion, key);
  return gateway_api::Find(inputs_.translation.gateways(), key);
}

RouteConversionPtr StatusView::Route(const ObjectKey& key) {
  Note(About::kConversion, key);
  return gateway_api::Find(inputs_.translation.routes(), key);
}

PolicyConversionPtr StatusView::Policy(const ObjectKey& key) {
  Note(About::kConversion, key);
  return gateway_api::Find(inputs_.translation.policies(), key);
}

size_t StatusView::Attached(const config::ConfigObject& owner, const std::string& listener) {
  Note(About::kAttached, {Kind{}, owner.ns(), owner.name()});
  return inputs_.relations.Attached(owner.ns(), owner.name(), listener);
}

std::set<RouteRelations::GatewayName> StatusView::GatewaysNamedWith(const ObjectKey& backend) {
  Note(About::kRoutesTo, backend);
  return inputs_.relations.GatewaysNamedWith(backend);
}

std::vector<RouteConversionPtr> StatusView::RoutesTo(const ObjectKey& pool) {
  Note(About::kRoutesTo, pool);
  return inputs_.translation.RoutesTo(pool);
}

GatewayInstances StatusView::Instances(const Interned& ns, const std::vector<std::string>& services,
                                       const std::set<InstancePort>& ports) {
  for (const std::string& host : services) Note(About::kHost, {Kind{}, ns, Interned(host)});
  return ResolveInstances(inputs_.snapshot, ns, services, ports);
}

const nlohmann::ordered_json* StatusView::Addresses(const ObjectKey& entry) const {
  const auto found = inputs_.addresses.find(entry);
  return found == inputs_.addresses.end() ? nullptr : &found->second;
}

std::vector<StatusQuestion> StatusView::TakeQuestions() {
  std::sort(questions_.begin(), questions_.end());
  questions_.erase(std::unique(questions_.begin(), questions_.end()), questions_.end());
  return std::move(questions_);
}

}  // namespace fairlead::gateway_api
