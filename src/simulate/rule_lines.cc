#include "simulate/rule_lines.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/strings.h"
#include "config/read/yaml.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "source/file/read_file.h"

namespace fairlead::simulate {
namespace {

using config::Kind;
using config::Node;
using istio::networking::v1alpha3::VirtualService;

std::string RoutePath(int index) { return StrCat("spec.http[", index, "]"); }

// A delegate's route has the name of the one that delegates before its own, a match's its own behind.
bool IsRoute(std::string_view chosen, std::string_view name) {
  return chosen == name || chosen.starts_with(StrCat(name, ".")) || chosen.starts_with(StrCat(name, "-")) ||
         chosen.ends_with(StrCat("-", name)) || chosen.find(StrCat("-", name, ".")) != chosen.npos;
}

// The rules by their index, below a field of the spec.
struct Chosen {
  std::string_view field;
  std::vector<size_t> indexes;
};

Chosen ChosenRoutes(const config::ConfigObject& object, const SimulationOutcome& outcome) {
  Chosen chosen{"http", {}};
  const std::vector<std::string> routes = outcome.Values("route");
  const auto& http = object.Spec<VirtualService>().http();
  for (int i = 0; i < http.size() && !routes.empty(); ++i) {
    const std::string name = http[i].name().empty() ? RoutePath(i) : http[i].name();
    if (IsRoute(routes.front(), name)) return {"http", {static_cast<size_t>(i)}};
  }
  return chosen;
}

// Steps and reasons name a rule as "AuthorizationPolicy shop/api rule 0".
Chosen MetRules(const config::ConfigObject& object, const SimulationOutcome& outcome) {
  Chosen chosen{"rules", {}};
  const std::string name =
      StrCat("AuthorizationPolicy ", object.ns().str(), "/", object.name().str(), " rule ");
  std::vector<std::string_view> texts = {outcome.reason};
  for (const Fact& step : outcome.steps) texts.push_back(step.value);
  for (std::string_view text : texts) {
    const size_t at = text.find(name);
    if (at == text.npos) continue;
    size_t index = 0;
    for (const char c : text.substr(at + name.size())) {
      if (c < '0' || c > '9') break;
      index = index * 10 + static_cast<size_t>(c - '0');
    }
    if (std::find(chosen.indexes.begin(), chosen.indexes.end(), index) == chosen.indexes.end())
      chosen.indexes.push_back(index);
  }
  return chosen;
}

// The document, or the item of a list, that begins at the line.
Node FindDocument(Node document, int line) {
  if (document.line() == line && document.Find("spec")) return document;
  for (const Node item : document.Find("items").elements()) {
    if (item.line() == line) return item;
  }
  return {};
}

}  // namespace

config::ConfigPtr WithNamedRoutes(const config::ConfigPtr& object) {
  if (object->kind() != Kind::kVirtualService) return object;
  const auto spec = std::make_shared<VirtualService>(object->Spec<VirtualService>());
  bool changed = false;
  for (int i = 0; i < spec->http_size(); ++i) {
    if (!spec->http(i).name().empty()) continue;
    spec->mutable_http(i)->set_name(RoutePath(i));
    changed = true;
  }
  if (!changed) return object;
  return std::make_shared<const config::ConfigObject>(object->kind(), object->meta(), object->origin(),
                                                      std::shared_ptr<const void>(spec),
                                                      object->content_hash());
}

std::vector<RuleLine> RulesOf(const config::ConfigObject& object, const SimulationOutcome& outcome) {
  Chosen chosen;
  if (object.kind() == Kind::kVirtualService) chosen = ChosenRoutes(object, outcome);
  if (object.kind() == Kind::kAuthorizationPolicy) chosen = MetRules(object, outcome);
  if (chosen.indexes.empty() || object.origin().file.empty()) return {};
  const auto text = source::ReadFile(object.origin().file.str());
  if (!text.ok()) return {};
  config::YamlStream stream(*text);
  for (auto step = stream.Next(); step != config::YamlStream::Step::kEnd; step = stream.Next()) {
    if (step != config::YamlStream::Step::kDocument) continue;
    const Node document = FindDocument(stream.root(), object.origin().line);
    if (!document) continue;
    std::vector<RuleLine> rules;
    for (const size_t index : chosen.indexes) {
      const Node rule = document.Find("spec").Find(chosen.field).At(index);
      if (rule) rules.push_back({StrCat("spec.", chosen.field, "[", index, "]"), rule.line()});
    }
    return rules;
  }
  return {};
}

}  // namespace fairlead::simulate
