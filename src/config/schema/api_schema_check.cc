#include <algorithm>
#include <set>
#include <utility>

#include "config/schema/api_schema.h"
#include "config/schema/schema_type.h"

namespace fairlead::config {
namespace {

bool HasType(Node value, const ApiSchema& schema) {
  if (schema.int_or_string) return value.IsString() || value.Int().has_value();
  return HasSchemaType(value, schema.type);
}

bool Within(const ApiSchema::Bounds& bounds, double actual) {
  return (!bounds.least || actual >= *bounds.least) && (!bounds.most || actual <= *bounds.most);
}

bool IsKnown(Node value, const ApiSchema& schema) {
  return schema.known_values.empty() || std::find(schema.known_values.begin(), schema.known_values.end(),
                                                  value.text()) != schema.known_values.end();
}

bool Matches(Node value, const RE2& pattern) {
  return RE2::PartialMatch(re2::StringPiece(value.text().data(), value.text().size()), pattern);
}

// What the bounds of a value's kind are about, and which they are.
struct Measure {
  std::string_view what;
  const ApiSchema::Bounds* bounds;
  double actual;
};
std::optional<Measure> MeasureOf(Node value, const ApiSchema& schema) {
  if (value.IsString())
    return Measure{"the length", &schema.length, static_cast<double>(LengthOf(value.text()))};
  if (value.IsSequence())
    return Measure{"the number of items", &schema.count, static_cast<double>(value.size())};
  if (value.IsMapping())
    return Measure{"the number of entries", &schema.entries, static_cast<double>(CelValue::Of(value).size())};
  if (const auto number = value.Double()) return Measure{"the number", &schema.number, *number};
  return std::nullopt;
}

bool Fits(Node value, const ApiSchema& schema);

size_t CountFitting(Node value, const std::vector<std::unique_ptr<ApiSchema>>& schemas) {
  return static_cast<size_t>(
      std::count_if(schemas.begin(), schemas.end(), [&](const auto& one) { return Fits(value, *one); }));
}

bool FitsCombinations(Node value, const ApiSchema& schema) {
  if (!schema.one_of.empty() && CountFitting(value, schema.one_of) != 1) return false;
  if (!schema.any_of.empty() && CountFitting(value, schema.any_of) == 0) return false;
  if (CountFitting(value, schema.all_of) != schema.all_of.size()) return false;
  return schema.negated == nullptr || !Fits(value, *schema.negated);
}

// Whether a value is one of a schema inside oneOf and its like, where fields need not be known.
bool Fits(Node value, const ApiSchema& schema) {
  if (!HasType(value, schema) || !IsKnown(value, schema)) return false;
  if (const auto measure = MeasureOf(value, schema); measure && !Within(*measure->bounds, measure->actual))
    return false;
  if (schema.pattern != nullptr && value.IsString() && !Matches(value, *schema.pattern)) return false;
  if (value.IsMapping()) {
    for (const std::string& name : schema.required) {
      if (value.Find(name).IsNull()) return false;
    }
    for (const auto& [name, property] : schema.properties) {
      const Node below = value.Find(name);
      if (!below.IsNull() && !Fits(below, *property)) return false;
    }
  }
  return FitsCombinations(value, schema);
}

std::string BoundText(double bound) { return StrCat(static_cast<int64_t>(bound)); }

// Returns whether the value is not too large.
bool CheckScalar(Node value, const ApiSchema& schema, const Spot& at) {
  bool small = true;
  if (!IsKnown(value, schema)) {
    const std::vector<std::string_view> names(schema.known_values.begin(), schema.known_values.end());
    at.Error("unknown-value", StrCat("unknown value ", value.text(), Suggestion(value.text(), names),
                                     " (known: ", Join(names, ", "), ")"));
  }
  if (const auto measure = MeasureOf(value, schema); measure && !Within(*measure->bounds, measure->actual)) {
    const ApiSchema::Bounds& bounds = *measure->bounds;
    const bool below = bounds.least && measure->actual < *bounds.least;
    small = below;
    at.Error("out-of-range", StrCat(measure->what, " must be at ", below ? "least " : "most ",
                                    BoundText(below ? *bounds.least : *bounds.most)));
  }
  if (schema.pattern != nullptr && value.IsString() && !Matches(value, *schema.pattern))
    at.Error("invalid-value", StrCat("\"", value.text(), "\" does not match ", schema.pattern->pattern()));
  return small;
}

// "wasm, lua": the fields that the alternatives of a oneOf ask for.
std::string Alternatives(const ApiSchema& schema) {
  std::vector<std::string_view> names;
  const auto add = [&](const std::vector<std::unique_ptr<ApiSchema>>& list) {
    for (const auto& one : list) names.insert(names.end(), one->required.begin(), one->required.end());
  };
  add(schema.one_of);
  for (const auto& all : schema.all_of) add(all->one_of);
  add(schema.any_of);
  return Join(names, ", ");
}

void CheckCombinations(Node value, const ApiSchema& schema, const Spot& at) {
  if (schema.int_or_string || FitsCombinations(value, schema)) return;
  const std::string names = Alternatives(schema);
  at.Error("conflict", names.empty() ? "the value fits none of the forms that it may have"
                                     : StrCat("only one may be set of ", names));
}

void CheckRules(Node value, const ApiSchema& schema, const Spot& at) {
  for (const ApiSchema::Rule& rule : schema.rules) {
    if (rule.parsed.expression == nullptr) {
      at.Error("unreadable-rule", StrCat("the definition's rule cannot be read: ", rule.parsed.error));
      continue;
    }
    const CelValue result = EvaluateCel(*rule.parsed.expression, value, at.cel_budget());
    if (result.type == CelValue::Type::kBool && result.truth) continue;
    const std::string_view message = rule.message.empty() ? rule.text : rule.message;
    at.Error("broken-rule",
             result.is_error() ? StrCat(message, " (", result.text, ")") : std::string(message));
  }
}

bool CheckMapping(Node value, const ApiSchema& schema, const Spot& at) {
  bool shaped = true;
  for (const std::string& name : schema.required) {
    if (!value.Find(name).IsNull()) continue;
    shaped = false;
    at.Field(name).Error("missing-field", "this field is required");
  }
  const bool open = schema.preserve_unknown || (schema.type.empty() && schema.properties.empty());
  for (const Node::Entry& entry : value.entries()) {
    const auto it = schema.properties.find(entry.key);
    const ApiSchema* below = it != schema.properties.end() ? it->second.get() : schema.additional.get();
    if (below != nullptr) {
      if (!entry.value.IsNull() || below->nullable)
        shaped = CheckBySchema(entry.value, *below, at.Field(entry.key)) && shaped;
    } else if (!open) {
      std::vector<std::string_view> names;
      for (const auto& [name, property] : schema.properties) names.push_back(name);
      at.Field(entry.key).Error("unknown-field", StrCat("unknown field", Suggestion(entry.key, names)));
    }
  }
  return shaped;
}

bool CheckList(Node value, const ApiSchema& schema, const Spot& at) {
  bool shaped = true;
  std::set<std::string> seen;
  size_t index = 0;
  for (Node element : value.elements()) {
    const Spot here(at, index++);
    if (schema.items != nullptr) shaped = CheckBySchema(element, *schema.items, here) && shaped;
    if (schema.list_keys.empty()) continue;
    std::string key;
    for (const std::string& name : schema.list_keys) StrAppend(&key, element.Find(name).text(), "\n");
    if (!seen.insert(key).second)
      here.Error("duplicate-item", StrCat("another item has the same ", Join(schema.list_keys, ", ")));
  }
  return shaped;
}

}  // namespace

bool CheckBySchema(Node value, const ApiSchema& schema, const Spot& at) {
  if (value.IsNull() && schema.nullable) return true;
  if (!HasType(value, schema)) {
    const std::string_view expected =
        schema.int_or_string ? "an integer or a string" : NameOfSchemaType(schema.type);
    at.Error("wrong-type", StrCat("expected ", expected, ", got ", DescribeValue(value)));
    return false;
  }
  bool shaped = CheckScalar(value, schema, at);
  if (value.IsMapping()) shaped = CheckMapping(value, schema, at) && shaped;
  if (value.IsSequence()) shaped = CheckList(value, schema, at) && shaped;
  CheckCombinations(value, schema, at);
  if (shaped) CheckRules(value, schema, at);
  return shaped;
}

}  // namespace fairlead::config
