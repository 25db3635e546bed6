#include "injection/typed_json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "config/read/json_reader.h"
#include "config/read/yaml.h"
#include "injection/go_text.h"
#include "injection/quantity.h"

namespace fairlead::injection {
namespace {

using Form = GoType::Form;

// Reads one value. Go goes on behind a value of the wrong type and tells the first one at the end; what a
// type's own reader refuses ends it at once.
class TypedReader {
 public:
  absl::StatusOr<Json> Read(const Json& value, const GoStruct& type) {
    Json out;
    if (value.is_null()) {
      out = ZeroOf(type);
    } else if (value.is_object()) {
      out = ReadStruct(value, type);
    } else {
      return absl::InvalidArgumentError(
          StrCat("json: cannot unmarshal ", KindOf(value), " into Go value of type ", type.printed_name));
    }
    if (stopped_) return absl::InvalidArgumentError(*stopped_);
    if (first_) return absl::InvalidArgumentError(*first_);
    return out;
  }

 private:
  static std::string_view KindOf(const Json& value) {
    if (value.is_object()) return "object";
    if (value.is_array()) return "array";
    if (value.is_string()) return "string";
    return value.is_boolean() ? "bool" : "number";
  }

  std::string Wrong(std::string_view what, std::string_view type) const {
    std::string path;
    for (const std::string_view piece : path_) StrAppend(&path, path.empty() ? "" : ".", piece);
    return StrCat("json: cannot unmarshal ", what, " into Go struct field ", around_->name, ".", path,
                  " of type ", type);
  }
  Json Mistake(std::string_view what, const GoType& type) {
    if (!first_) first_ = Wrong(what, type.name);
    return Zero(type);
  }
  Json Mistake(const Json& value, const GoType& type) { return Mistake(KindOf(value), type); }
  Json Stop(std::string text) {
    if (!stopped_) stopped_ = std::move(text);
    return nullptr;
  }

  // What Go writes of a value that was never set; null for nothing.
  static Json Zero(const GoType& type) {
    if (type.pointer) return nullptr;
    switch (type.form) {
      case Form::kString:
        return "";
      case Form::kBool:
        return false;
      case Form::kInt32:
      case Form::kInt64:
      case Form::kIntOrString:
        return 0;
      case Form::kQuantity:
        return "0";
      case Form::kDuration:
        return "0s";
      case Form::kStruct:
        return ZeroOf(*type.structure);
      default:
        return nullptr;
    }
  }

  static Json ZeroOf(const GoStruct& type) {
    Json out = Json::object();
    for (const GoField& field : type.fields) {
      const bool kept = !field.omit_empty || field.type.form == Form::kStruct ||
                        field.type.form == Form::kQuantity || field.type.form == Form::kIntOrString;
      if (Json zero = kept ? Zero(field.type) : Json(nullptr); !zero.is_null())
        out[field.name] = std::move(zero);
    }
    return out;
  }

  static bool IsEmpty(const Json& value) {
    if (const auto* text = value.get_ptr<const std::string*>()) return text->empty();
    if (value.is_boolean()) return value == false;
    if (value.is_number()) return value == 0;
    return value.empty();
  }

  Json ReadStruct(const Json& value, const GoStruct& type) {
    Json out = ZeroOf(type);
    const GoStruct* outer = std::exchange(around_, &type);
    for (const auto& [key, member] : value.items()) {
      if (stopped_) break;
      const GoField* field = type.Find(key);
      if (field == nullptr || member.is_null()) continue;
      path_.push_back(field->path);
      Json read = Value(member, field->type);
      path_.pop_back();
      const bool omitted = field->omit_empty && !field->type.pointer && field->type.form != Form::kStruct &&
                           field->type.form != Form::kQuantity && field->type.form != Form::kIntOrString &&
                           IsEmpty(read);
      if (omitted || read.is_null()) {
        out.erase(field->name);
      } else {
        out[field->name] = std::move(read);
      }
    }
    around_ = outer;
    return out;
  }

  Json Value(const Json& value, const GoType& type) {
    switch (type.form) {
      case Form::kString:
        return value.is_string() ? value : Mistake(value, type);
      case Form::kBool:
        return value.is_boolean() ? value : Mistake(value, type);
      case Form::kInt32:
        return Integer(value, type, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      case Form::kInt64:
        return Integer(value, type, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
      case Form::kBytes:
        return value.is_string() ? value : Mistake(value, type);
      case Form::kStruct:
        return value.is_object() ? ReadStruct(value, *type.structure) : Mistake(value, type);
      case Form::kList:
        return List(value, type);
      case Form::kMap:
        return Map(value, type);
      default:
        return Special(value, type);
    }
  }

  Json Integer(const Json& value, const GoType& type, int64_t least, int64_t most) {
    if (!value.is_number()) return Mistake(value, type);
    if (value.is_number_float()) {
      const double number = value.get<double>();
      if (std::floor(number) != number || std::abs(number) >= 1e18)
        return Mistake(std::string_view(StrCat("number ", JsonText(value))), type);
      return Integer(static_cast<int64_t>(number), type, least, most);
    }
    const bool large = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most);
    if (large || value.get<int64_t>() < least || value.get<int64_t>() > most)
      return Mistake(std::string_view(StrCat("number ", JsonText(value))), type);
    return value;
  }

  Json List(const Json& value, const GoType& type) {
    if (!value.is_array()) return Mistake(value, type);
    Json out = Json::array();
    for (const Json& element : value) {
      if (stopped_) break;
      out.push_back(element.is_null() ? Zero(*type.element) : Value(element, *type.element));
    }
    return out;
  }

  Json Map(const Json& value, const GoType& type) {
    if (!value.is_object()) return Mistake(value, type);
    Json out = Json::object();
    for (const auto& [key, member] : value.items()) {
      if (stopped_) break;
      out[key] = member.is_null() ? Zero(*type.element) : Value(member, *type.element);
    }
    return out;
  }

  Json Special(const Json& value, const GoType& type) {
    switch (type.form) {
      case Form::kIntOrString:
        if (value.is_string()) return value;
        if (value.is_number_integer()) return value;
        return Stop(Wrong(value.is_number() ? StrCat("number ", JsonText(value)) : std::string(KindOf(value)),
                          "int32"));
      case Form::kQuantity: {
        absl::StatusOr<std::string> quantity =
            CanonicalQuantity(value.is_string() ? Trim(*value.get_ptr<const std::string*>())
                                                : std::string_view(JsonText(value)));
        return quantity.ok() ? Json(*std::move(quantity))
                             : Stop(std::string(FromAbsl(quantity.status().message())));
      }
      case Form::kTime:
        if (!value.is_string()) return Stop(Wrong(KindOf(value), "string"));
        if (!ParseTimestamp(*value.get_ptr<const std::string*>()))
          return Stop(StrCat("parsing time ", GoQuote(*value.get_ptr<const std::string*>()),
                             " as \"2006-01-02T15:04:05Z07:00\": cannot parse ",
                             GoQuote(*value.get_ptr<const std::string*>()), " as \"2006\""));
        return value;
      default:
        return value;
    }
  }

  const GoStruct* around_ = nullptr;
  std::vector<std::string_view> path_;
  std::optional<std::string> first_, stopped_;
};

}  // namespace

absl::StatusOr<Json> ReadTyped(const Json& value, const GoStruct& type) {
  return TypedReader().Read(value, type);
}

Json ToSortedJson(config::Node node) {
  switch (node.type()) {
    case config::NodeType::kNull:
      return nullptr;
    case config::NodeType::kBool:
      return node.Bool();
    case config::NodeType::kInt:
      if (const auto number = node.Int()) return *number;
      if (const auto number = node.Unsigned()) return *number;
      [[fallthrough]];
    case config::NodeType::kFloat: {
      const std::optional<double> number = node.Double();
      return number && std::isfinite(*number) ? Json(*number) : Json(node.text());
    }
    case config::NodeType::kString:
      return node.text();
    case config::NodeType::kSequence: {
      Json out = Json::array();
      for (config::Node element : node.elements()) out.push_back(ToSortedJson(element));
      return out;
    }
    case config::NodeType::kMapping: {
      Json out = Json::object();
      for (const config::Node::Entry& entry : node.entries())
        out[std::string(entry.key)] = ToSortedJson(entry.value);
      return out;
    }
  }
  return nullptr;
}

absl::StatusOr<Json> ReadJson(std::string_view text) {
  if (absl::Status status = CheckGoJson(text); !status.ok()) return status;
  const absl::StatusOr<config::Tree> tree = config::JsonReader().Read(text);
  if (!tree.ok()) return tree.status();
  return ToSortedJson(tree->root());
}

absl::StatusOr<Json> ReadYaml(std::string_view text) {
  const config::YamlDocument document = config::ParseYamlDocument(text);
  for (const config::YamlProblem& problem : document.problems) {
    return absl::InvalidArgumentError(StrCat("line ", problem.line, ": ", problem.message));
  }
  return ToSortedJson(document.tree.root());
}

const Json& Member(const Json& object, std::string_view name) {
  static const Json& nothing = *new Json;
  if (!object.is_object()) return nothing;
  const auto it = object.find(name);
  return it == object.end() ? nothing : *it;
}

const Json& Member(const Json& object, std::string_view first, std::string_view second) {
  return Member(Member(object, first), second);
}

std::string TextOf(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return text == nullptr ? "" : *text;
}

std::string TextOf(const Json& object, std::string_view name) { return TextOf(Member(object, name)); }

}  // namespace fairlead::injection
