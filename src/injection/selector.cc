#include "injection/selector.h"

#include <utility>

#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {

std::optional<Selector> Selector::Read(const Json& json) {
  istio::mesh::v1alpha1::LabelSelector proto;
  for (const auto& [key, value] : Member(json, "matchLabels").items())
    (*proto.mutable_matchlabels())[key] = TextOf(value);
  for (const Json& expression : Member(json, "matchExpressions")) {
    auto* requirement = proto.add_matchexpressions();
    requirement->set_key(TextOf(expression, "key"));
    requirement->set_operator_(TextOf(expression, "operator"));
    for (const Json& value : Member(expression, "values")) requirement->add_values(TextOf(value));
  }
  auto parsed = model::LabelSelector::Parse(proto);
  if (!parsed.ok()) return std::nullopt;
  return Selector{proto.matchlabels().empty() && proto.matchexpressions().empty(), *std::move(parsed)};
}

LabelMap ReadLabels(const Json& json) {
  LabelMap labels;
  for (const auto& [key, value] : json.items()) labels.emplace(key, TextOf(value));
  return labels;
}

}  // namespace fairlead::injection
