#include "injection/strategic_merge.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "injection/go_text.h"
#include "injection/merged_list.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList";

absl::Status Wrong(std::string_view text) { return absl::InvalidArgumentError(ToAbsl(text)); }

void DropNulls(Json* value) {
  if (value->is_object()) {
    for (auto it = value->begin(); it != value->end();) {
      if (it->is_null()) {
        it = value->erase(it);
      } else {
        DropNulls(&*it++);
      }
    }
  } else if (value->is_array()) {
    for (Json& element : *value) DropNulls(&element);
  }
}

// A part of a patch that nothing is merged with. None: it was a directive.
std::optional<Json> WithoutDirectives(Json value) {
  if (value.is_object()) {
    if (value.contains(kPatchDirective)) return std::nullopt;
    Json kept = Json::object();
    for (auto& [key, member] : value.items()) {
      if (std::optional<Json> rest = WithoutDirectives(std::move(member))) kept[key] = *std::move(rest);
    }
    return kept;
  }
  if (!value.is_array()) return value;
  Json kept = Json::array();
  for (Json& element : value) {
    if (std::optional<Json> rest = WithoutDirectives(std::move(element))) kept.push_back(*std::move(rest));
  }
  return kept;
}

void Take(Json* original, const std::string& key, Json value) {
  DropNulls(&value);
  if (std::optional<Json> rest = WithoutDirectives(std::move(value))) {
    (*original)[key] = *std::move(rest);
  } else {
    original->erase(key);
  }
}

bool SameKind(const Json& a, const Json& b) {
  return a.type() == b.type() || (a.is_number() && b.is_number());
}

absl::Status RetainKeys(Json* original, Json* patch) {
  const auto directive = patch->find(kRetainKeys);
  if (directive == patch->end()) return absl::OkStatus();
  const Json kept = std::move(*directive);
  patch->erase(directive);
  const absl::Status wrong = Wrong("invalid patch format of retainKeys");
  if (!kept.is_array()) return wrong;
  std::set<std::string> names;
  for (const Json& name : kept) names.insert(TextOf(name));
  for (const auto& [key, value] : patch->items()) {
    const bool directs = key.starts_with(kDeleteFromList) || key.starts_with(kElementOrder);
    if (!value.is_null() && !directs && !names.contains(key)) return wrong;
  }
  for (auto it = original->begin(); it != original->end();)
    it = names.contains(it.key()) ? std::next(it) : original->erase(it);
  return absl::OkStatus();
}

// The field behind a directive such as $setElementOrder/env.
absl::StatusOr<std::string> FieldOf(std::string_view key, std::string_view directive,
                                    std::string_view wrong) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos || key.substr(0, slash) != directive) return Wrong(wrong);
  return std::string(key.substr(slash + 1));
}

class Merger {
 public:
  absl::StatusOr<Json> MergeMap(Json original, Json patch, const GoStruct* type) const {
    if (const auto directive = patch.find(kPatchDirective); directive != patch.end())
      return Directed(*directive, patch);
    if (absl::Status status = RetainKeys(&original, &patch); !status.ok()) return status;
    if (absl::Status status = MergeOrdered(&original, &patch, type); !status.ok()) return status;
    for (auto& [key, value] : patch.items()) {
      if (absl::Status status = MergeMember(key, &original, std::move(value), type); !status.ok())
        return status;
    }
    return original;
  }

 private:
  static absl::StatusOr<Json> Directed(const Json& directive, const Json& patch) {
    if (directive == "replace") {
      Json rest = patch;
      rest.erase(std::string(kPatchDirective));
      return rest;
    }
    if (directive == "delete") return Json::object();
    return UnknownPatchType(patch);
  }

  absl::Status MergeMember(const std::string& written, Json* original, Json value,
                           const GoStruct* type) const {
    std::string key = written;
    const bool deletes = written.starts_with(kDeleteFromList);
    if (deletes) {
      absl::StatusOr<std::string> field =
          FieldOf(written, kDeleteFromList, "invalid patch format of primitive list");
      if (!field.ok()) return field.status();
      key = *std::move(field);
    }
    if (value.is_null()) {
      original->erase(key);
      return absl::OkStatus();
    }
    const auto present = original->find(key);
    if (present == original->end() || !SameKind(*present, value)) {
      if (!deletes) Take(original, key, std::move(value));
      return absl::OkStatus();
    }
    if (!value.is_structured()) {
      *present = std::move(value);
      return absl::OkStatus();
    }
    absl::StatusOr<Json> merged = MergeStructured(key, std::move(*present), std::move(value), type, deletes);
    if (!merged.ok()) return merged.status();
    *present = *std::move(merged);
    return absl::OkStatus();
  }

  absl::StatusOr<Json> MergeStructured(const std::string& key, Json original, Json value,
                                       const GoStruct* type, bool deletes) const {
    absl::StatusOr<const GoField*> field = Lookup(key, type);
    if (!field.ok()) return field.status();
    if (value.is_object()) return MergeMap(std::move(original), std::move(value), (*field)->type.structure);
    if ((*field)->type.form != GoType::Form::kList)
      return Wrong("expected slice or array type, but got: struct");
    if (deletes) return DeleteFromList(original, value);
    if (!(*field)->merge) return value;
    return MergeByKey(**field, std::move(original), std::move(value));
  }

  static absl::StatusOr<const GoField*> Lookup(const std::string& key, const GoStruct* type) {
    if (type == nullptr)
      return Wrong("merging an object in json but data type is not struct, instead is: map");
    const GoField* field = type->Find(key);
    if (field != nullptr) return field;
    return Wrong(
        StrCat("unable to find api field in struct ", type->name, " for the json field ", GoQuote(key)));
  }

  absl::StatusOr<Json> MergeByKey(const GoField& field, Json original, Json patch) const {
    const GoStruct* element = field.type.element->structure;
    return MergeList(std::move(original), std::move(patch), field.merge_key,
                     [&](Json a, Json b) { return MergeMap(std::move(a), std::move(b), element); });
  }

  // Lists that come with the order of their elements.
  absl::Status MergeOrdered(Json* original, Json* patch, const GoStruct* type) const {
    std::vector<std::string> directives;
    for (const auto& [key, value] : patch->items()) {
      if (key.starts_with(kElementOrder)) directives.push_back(key);
    }
    for (const std::string& directive : directives) {
      const Json order = std::move((*patch)[directive]);
      patch->erase(directive);
      const absl::StatusOr<std::string> field =
          FieldOf(directive, kElementOrder, "invalid patch format of setElementOrder list");
      if (!field.ok()) return field.status();
      if (absl::Status status = MergeInOrder(*field, order, original, patch, type); !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status MergeInOrder(const std::string& key, const Json& order, Json* original, Json* patch,
                            const GoStruct* type) const {
    const auto before = original->find(key);
    const auto given = patch->find(key);
    const bool has_before = before != original->end(), has_given = given != patch->end();
    for (const Json* list : {&order, has_before ? &*before : &order, has_given ? &*given : &order}) {
      if (!list->is_array()) return ExpectedList(*list);
    }
    const absl::StatusOr<const GoField*> field = Lookup(key, type);
    if (!field.ok()) return field.status();
    if ((*field)->type.form != GoType::Form::kList)
      return Wrong("expected slice or array type, but got: struct");
    const std::string& merge_key = (*field)->merge_key;
    if (has_given) {
      if (absl::Status status = CheckElementOrder(*given, order, merge_key); !status.ok()) return status;
    }
    if (!has_before && !has_given) return absl::OkStatus();
    const Json live = has_before ? *before : Json::array();
    absl::StatusOr<Json> merged = has_before ? *before : Json::array();
    if (has_given && !has_before) {
      merged = WithoutDirectives(*given).value_or(Json::array());
    } else if (has_given) {
      merged = (*field)->merge ? MergeByKey(**field, live, *given) : absl::StatusOr<Json>(*given);
    }
    if (has_given) patch->erase(key);
    if (merged.ok()) merged = InOrder(*merged, order, live, merge_key);
    if (!merged.ok()) return merged.status();
    (*original)[key] = *std::move(merged);
    return absl::OkStatus();
  }
};

}  // namespace

absl::StatusOr<Json> StrategicMerge(Json original, Json patch, const GoStruct& type) {
  if (!original.is_object()) original = Json::object();
  if (!patch.is_object()) patch = Json::object();
  return Merger().MergeMap(std::move(original), std::move(patch), &type);
}

absl::StatusOr<Json> Overlay(const Json& original, Json patch, const GoStruct& type) {
  const absl::StatusOr<Json> merged = StrategicMerge(original, std::move(patch), type);
  if (!merged.ok()) return Wrong(StrCat("strategic merge: ", FromAbsl(merged.status().message())));
  absl::StatusOr<Json> read = ReadTyped(*merged, type);
  if (!read.ok()) return Wrong(StrCat("unmarshal patched pod: ", FromAbsl(read.status().message())));
  return read;
}

}  // namespace fairlead::injection
