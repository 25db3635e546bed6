#include "injection/merged_list.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "injection/go_text.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

absl::Status Wrong(std::string_view text) { return absl::InvalidArgumentError(ToAbsl(text)); }

absl::Status NoMergeKey(const Json& element, const std::string& key) {
  return Wrong(StrCat("map: ", GoValueText(element), " does not contain declared merge key: ", key));
}

// What an element is told apart by; null without one.
const Json& KeyOf(const Json& element, const std::string& merge_key) {
  return merge_key.empty() ? element : Member(element, merge_key);
}

// The first places of a list's keys.
class Places {
 public:
  Places(const Json& list, const std::string& merge_key) : merge_key_(merge_key) {
    for (const Json& element : list) Add(element);
  }
  void Add(const Json& element) { places_.try_emplace(JsonText(KeyOf(element, merge_key_)), count_++); }
  std::optional<size_t> Find(const Json& element) const {
    const auto it = places_.find(JsonText(KeyOf(element, merge_key_)));
    return it == places_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  const std::string merge_key_;
  std::unordered_map<std::string, size_t> places_;
  size_t count_ = 0;
};

// All elements of both lists are of one kind, and none is a list itself.
absl::Status CheckKinds(const Json& original, const Json& patch) {
  const Json* first = nullptr;
  for (const Json* list : {&original, &patch}) {
    for (const Json& element : *list) {
      if (first == nullptr) first = &element;
      if (first->is_array()) return Wrong("lists of lists are not supported");
      if (first->type() == element.type() || (first->is_number() && element.is_number())) continue;
      return Wrong(StrCat("list element types are not identical: [", GoValueText(original), " ",
                          GoValueText(patch), "]"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKeys(const Json& list, const std::string& merge_key) {
  if (merge_key.empty()) return absl::OkStatus();
  for (const Json& element : list) {
    if (!element.is_object() || !element.contains(merge_key)) return NoMergeKey(element, merge_key);
  }
  return absl::OkStatus();
}

bool MapsWithin(const Json& original, const Json& patch) {
  return (!original.empty() && original[0].is_object()) || (original.empty() && patch[0].is_object());
}

Json Without(const Json& list, const Places& deleted) {
  Json kept = Json::array();
  for (const Json& element : list) {
    if (!deleted.Find(element)) kept.push_back(element);
  }
  return kept;
}

// Acts on the elements of a patch that direct, and takes them out of it.
absl::Status Direct(Json* original, Json* patch, const std::string& merge_key) {
  Json rest = Json::array(), deleted = Json::array();
  bool replaces = false;
  for (Json& element : *patch) {
    const auto directive = element.find(kPatchDirective);
    if (directive == element.end()) {
      rest.push_back(std::move(element));
    } else if (*directive == "delete") {
      if (!element.contains(merge_key)) return NoMergeKey(element, merge_key);
      deleted.push_back(std::move(element));
    } else if (*directive == "replace") {
      replaces = true;
    } else if (*directive == "merge") {
      return Wrong("merging lists cannot yet be specified in the patch");
    } else {
      return UnknownPatchType(element);
    }
  }
  if (!deleted.empty()) *original = Without(*original, Places(deleted, merge_key));
  if (replaces) *original = std::exchange(rest, Json::array());
  *patch = std::move(rest);
  return absl::OkStatus();
}

Json Distinct(const Json& list) {
  Json kept = Json::array();
  std::set<std::string> seen;
  for (const Json& element : list) {
    if (seen.insert(JsonText(element)).second) kept.push_back(element);
  }
  return kept;
}

void SortBy(const Places& order, std::vector<Json>* list) {
  std::vector<std::pair<size_t, Json>> placed;
  for (Json& element : *list) {
    const size_t place = order.Find(element).value_or(SIZE_MAX);
    placed.emplace_back(place, std::move(element));
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < placed.size(); ++i) (*list)[i] = std::move(placed[i].second);
}

absl::StatusOr<Json> MergeMaps(Json original, const Json& patch, const std::string& merge_key,
                               const MergeElements& merge) {
  Places places(original, merge_key);
  for (const Json& element : patch) {
    if (!element.contains(merge_key)) return NoMergeKey(element, merge_key);
    const std::optional<size_t> same = places.Find(element);
    if (!same) {
      original.push_back(element);
      places.Add(element);
      continue;
    }
    absl::StatusOr<Json> merged = merge(std::move(original[*same]), element);
    if (!merged.ok()) return merged;
    original[*same] = *std::move(merged);
  }
  return original;
}

}  // namespace

absl::Status UnknownPatchType(const Json& patch) {
  return Wrong(StrCat("unknown patch type: ", GoValueText(Member(patch, kPatchDirective)),
                      " in map: ", GoValueText(patch)));
}

absl::Status ExpectedList(const Json& value) {
  const std::string_view kind = value.is_object()    ? "map[string]interface {}"
                                : value.is_string()  ? "string"
                                : value.is_boolean() ? "bool"
                                                     : "float64";
  return Wrong(StrCat("expected a []interface {}, but received a ", kind));
}

absl::StatusOr<Json> InOrder(const Json& merged, const Json& order, const Json& live,
                             const std::string& merge_key) {
  for (const Json* list : {&merged, &order, &live}) {
    if (absl::Status status = CheckKeys(*list, merge_key); !status.ok()) return status;
  }
  const Places ordered(order, merge_key), before(live, merge_key);
  std::vector<Json> given, others;
  for (const Json& element : merged) (ordered.Find(element) ? given : others).push_back(element);
  SortBy(ordered, &given);
  SortBy(before, &others);
  Json all = Json::array();
  size_t i = 0, j = 0;
  while (i < others.size() || j < given.size()) {
    bool other = j == given.size();
    if (i < others.size() && j < given.size()) {
      const auto a = before.Find(others[i]), b = before.Find(given[j]);
      other = a && b && *a < *b;
    }
    all.push_back(std::move(other ? others[i++] : given[j++]));
  }
  return all;
}

absl::StatusOr<Json> MergeList(Json original, Json patch, const std::string& merge_key,
                               const MergeElements& merge) {
  if (original.empty() && patch.empty()) return original;
  if (absl::Status status = CheckKinds(original, patch); !status.ok()) return status;
  absl::StatusOr<Json> merged;
  if (!MapsWithin(original, patch)) {
    Json both = original;
    both.insert(both.end(), patch.begin(), patch.end());
    merged = Distinct(both);
  } else {
    if (merge_key.empty()) return Wrong("cannot merge lists without merge key for struct");
    if (absl::Status status = Direct(&original, &patch, merge_key); !status.ok()) return status;
    merged = MergeMaps(original, patch, merge_key, merge);
  }
  if (!merged.ok()) return merged;
  return InOrder(*merged, patch, original, merge_key);
}

absl::Status CheckElementOrder(const Json& patch, const Json& order, const std::string& merge_key) {
  if (patch.empty() || order.empty()) return absl::OkStatus();
  size_t at = 0;
  for (size_t i = 0; i < order.size() && at < patch.size();) {
    const Json& element = patch[at];
    if (element.is_object() && element.contains(kPatchDirective)) {
      ++at;
      continue;
    }
    if (!merge_key.empty() && (!element.is_object() || !element.contains(merge_key)))
      return NoMergeKey(element, merge_key);
    if (KeyOf(element, merge_key) == KeyOf(order[i], merge_key)) ++at;
    ++i;
  }
  while (at < patch.size() && patch[at].is_object() && patch[at].contains(kPatchDirective)) ++at;
  if (at == patch.size()) return absl::OkStatus();
  return Wrong(StrCat("The order in patch list:\n", GoValueText(patch),
                      "\n doesn't match $setElementOrder list:\n", GoValueText(order), "\n"));
}

Json DeleteFromList(const Json& original, const Json& deleted) {
  return Without(original, Places(deleted, ""));
}

}  // namespace fairlead::injection
