#include "injection/json_patch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/strings.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

class Patch {
 public:
  Json Take() { return std::move(operations_); }

  void Compare(const std::string& path, const Json& sent, const Json& before, const Json& after) {
    if (before == after) return;
    if (sent.is_object() && before.is_object() && after.is_object())
      return CompareObjects(path, sent, before, after);
    if (sent.is_array() && before.is_array() && after.is_array() && sent.size() == before.size())
      return CompareLists(path, sent, before, after);
    Add("replace", path, &after);
  }

 private:
  void Add(const char* operation, const std::string& path, const Json* value) {
    Json one = {{"op", operation}, {"path", path}};
    if (value != nullptr) one["value"] = *value;
    operations_.push_back(std::move(one));
  }

  static std::string Below(const std::string& path, const std::string& key) {
    return StrCat(path, "/", ReplaceAll(ReplaceAll(key, "~", "~0"), "/", "~1"));
  }

  void CompareObjects(const std::string& path, const Json& sent, const Json& before, const Json& after) {
    for (const auto& [key, value] : before.items()) {
      if (!after.contains(key) && sent.contains(key)) Add("remove", Below(path, key), nullptr);
    }
    for (const auto& [key, value] : after.items()) {
      const auto was = before.find(key), raw = sent.find(key);
      if (was == before.end() || raw == sent.end()) {
        // `add` replaces what is there and was not understood.
        if (was == before.end() || *was != value) Add("add", Below(path, key), &value);
      } else {
        Compare(Below(path, key), *raw, *was, value);
      }
    }
  }

  // Elements are compared place by place; what is too much goes from the end.
  void CompareLists(const std::string& path, const Json& sent, const Json& before, const Json& after) {
    const size_t both = std::min(before.size(), after.size());
    for (size_t i = 0; i < both; ++i) Compare(StrCat(path, "/", i), sent[i], before[i], after[i]);
    for (size_t i = before.size(); i > after.size(); --i) Add("remove", StrCat(path, "/", i - 1), nullptr);
    for (size_t i = before.size(); i < after.size(); ++i) Add("add", StrCat(path, "/", i), &after[i]);
  }

  Json operations_ = Json::array();
};

}  // namespace

Json MakeJsonPatch(const Json& sent, const Json& before, const Json& after) {
  Patch patch;
  patch.Compare("", sent, before, after);
  return patch.Take();
}

// Lists are extended and shortened at their ends alone.
Json Patched(Json sent, const Json& operations) {
  for (const Json& one : operations) {
    const Json::json_pointer path(TextOf(one, "path"));
    if (TextOf(one, "op") != "remove") {
      sent[path] = Member(one, "value");
      continue;
    }
    Json& parent = sent[path.parent_pointer()];
    if (parent.is_array()) {
      parent.erase(parent.size() - 1);
    } else {
      parent.erase(path.back());
    }
  }
  return sent;
}

}  // namespace fairlead::injection
