#include "injection/configuration.h"

#include <atomic>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

TemplateSetPtr MakeSet(const InjectorTexts& texts, const istio::mesh::v1alpha1::MeshConfig& mesh,
                       const std::map<std::string, std::string>& environment) {
  static std::atomic<uint64_t> last{0};
  auto set = std::make_shared<TemplateSet>();
  set->number = ++last;
  Json load = {{"number", set->number}, {"config", texts.config}, {"values", texts.values}};
  load["mesh"] = absl::Base64Escape(mesh.SerializeAsString());
  load["environment"] = environment;
  set->load_request = JsonText(Json{{"load", std::move(load)}});
  return set;
}

std::vector<std::string> ReadTexts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) texts.push_back(TextOf(text));
  return texts;
}

std::vector<Selector> ReadSelectors(const Json& list) {
  std::vector<Selector> selectors;
  for (const Json& one : list) {
    if (auto selector = Selector::Read(one)) selectors.push_back(*std::move(selector));
  }
  return selectors;
}

absl::Status Refusal(std::string_view stage, const Json& why) {
  return absl::InvalidArgumentError(StrCat(stage, TextOf(why)));
}

}  // namespace

absl::StatusOr<InjectorConfigurationPtr> LoadConfiguration(
    const InjectorTexts& texts, model::MeshConfigPtr mesh,
    const std::map<std::string, std::string>& environment, TemplateEngine& engine) {
  auto made = std::make_shared<InjectorConfiguration>();
  made->set = MakeSet(texts, *mesh, environment);
  made->mesh = std::move(mesh);
  const absl::StatusOr<Json> answer = engine.Load(*made->set);
  if (!answer.ok()) return answer.status();
  if (const Json& why = Member(*answer, "configError"); !why.is_null())
    return Refusal("failed to get initial configuration: ", why);
  constexpr std::string_view kValues =
      "failed to process webhook config: failed to create new values config: ";
  if (const Json& why = Member(*answer, "valuesError"); !why.is_null())
    return Refusal(StrCat(kValues, "could not parse configuration values: "), why);
  absl::StatusOr<Values> values = ReadValues(Member(*answer, "values"));
  if (!values.ok()) return absl::InvalidArgumentError(StrCat(kValues, FromAbsl(values.status().message())));
  made->values = *std::move(values);
  const Json& config = Member(*answer, "config");
  made->policy = TextOf(config, "policy");
  made->default_templates = ReadTexts(Member(config, "defaultTemplates"));
  for (const auto& [name, names] : Member(config, "aliases").items()) made->aliases[name] = ReadTexts(names);
  made->never_inject = ReadSelectors(Member(config, "neverInjectSelector"));
  made->always_inject = ReadSelectors(Member(config, "alwaysInjectSelector"));
  made->injected_annotations = ReadLabels(Member(config, "injectedAnnotations"));
  made->templates = ReadTexts(Member(*answer, "templates"));
  return made;
}

}  // namespace fairlead::injection
