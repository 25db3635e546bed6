#include "config/schema/api_schema.h"

#include <map>
#include <mutex>
#include <utility>

#include "config/schema/crd_schema.h"

namespace fairlead::config {
namespace {

std::vector<std::string> Texts(Node list) {
  std::vector<std::string> texts;
  for (Node element : list.elements()) texts.emplace_back(element.text());
  return texts;
}

std::vector<std::unique_ptr<ApiSchema>> CompileAll(Node list) {
  std::vector<std::unique_ptr<ApiSchema>> schemas;
  for (Node element : list.elements()) schemas.push_back(CompileApiSchema(element));
  return schemas;
}

ApiSchema::Bounds ReadBounds(Node schema, std::string_view least, std::string_view most) {
  return {schema.Find(least).Double(), schema.Find(most).Double()};
}

void ReadRules(Node list, ApiSchema* schema) {
  for (Node rule : list.elements()) {
    const std::string_view text = rule.Find("rule").String();
    // Such a rule is about a change of an object; here there is no object before.
    if (text.find("oldSelf") != std::string_view::npos) continue;
    const std::string_view message = rule.Find("message").String();
    schema->rules.push_back({ParseCel(text), std::string(text), std::string(message)});
  }
}

}  // namespace

std::unique_ptr<ApiSchema> CompileApiSchema(Node node) {
  auto schema = std::make_unique<ApiSchema>();
  schema->type = node.Find("type").String();
  schema->int_or_string = node.Find("x-kubernetes-int-or-string").Bool();
  schema->preserve_unknown = node.Find("x-kubernetes-preserve-unknown-fields").Bool();
  schema->nullable = node.Find("nullable").Bool();
  for (const Node::Entry& property : node.Find("properties").entries())
    schema->properties.emplace(property.key, CompileApiSchema(property.value));
  const Node additional = node.Find("additionalProperties");
  if (additional.IsMapping()) schema->additional = CompileApiSchema(additional);
  if (additional.Bool()) schema->additional = std::make_unique<ApiSchema>();
  if (const Node items = node.Find("items")) schema->items = CompileApiSchema(items);
  if (const Node negated = node.Find("not")) schema->negated = CompileApiSchema(negated);
  schema->required = Texts(node.Find("required"));
  schema->known_values = Texts(node.Find("enum"));
  if (node.Find("x-kubernetes-list-type").String() == "map")
    schema->list_keys = Texts(node.Find("x-kubernetes-list-map-keys"));
  schema->one_of = CompileAll(node.Find("oneOf"));
  schema->any_of = CompileAll(node.Find("anyOf"));
  schema->all_of = CompileAll(node.Find("allOf"));
  if (const Node pattern = node.Find("pattern"))
    schema->pattern = std::make_unique<RE2>(std::string(pattern.text()), RE2::Quiet);
  schema->number = ReadBounds(node, "minimum", "maximum");
  schema->length = ReadBounds(node, "minLength", "maxLength");
  schema->count = ReadBounds(node, "minItems", "maxItems");
  schema->entries = ReadBounds(node, "minProperties", "maxProperties");
  ReadRules(node.Find("x-kubernetes-validations"), schema.get());
  return schema;
}

const ApiSchema* ApiSchemaOf(const KindInfo& kind, std::string_view version) {
  static auto& mutex = *new std::mutex;
  static auto& schemas = *new std::map<std::pair<Kind, std::string>, std::unique_ptr<ApiSchema>>;
  std::lock_guard lock(mutex);
  const auto [it, added] = schemas.try_emplace({kind.kind, std::string(version)});
  if (added) {
    if (const Node schema = CrdSchemaOf(kind, version)) it->second = CompileApiSchema(schema);
  }
  return it->second.get();
}

}  // namespace fairlead::config
