#include "tests/corpus/compare.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/strings.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "proto/descriptors.h"

namespace fairlead::corpus {
namespace {

using nlohmann::json;

constexpr size_t kMostDifferences = 40;
constexpr size_t kMostText = 300;

std::string Shown(const json& value) { return value.dump().substr(0, kMostText); }

void Differences(const json& got, const json& want, const std::string& path, std::vector<std::string>* out) {
  if (out->size() >= kMostDifferences || got == want) return;
  if (got.is_object() && want.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : got.items()) keys.insert(key);
    for (const auto& [key, value] : want.items()) keys.insert(key);
    for (const std::string& key : keys) {
      const std::string at = StrCat(path, ".", key);
      if (!got.contains(key)) {
        out->push_back(at + ": missing, want " + Shown(want[key]));
      } else if (!want.contains(key)) {
        out->push_back(at + ": unexpected " + Shown(got[key]));
      } else {
        Differences(got[key], want[key], at, out);
      }
    }
    return;
  }
  if (got.is_array() && want.is_array()) {
    if (got.size() != want.size()) {
      out->push_back(path + ": " + std::to_string(got.size()) + " elements, want " +
                     std::to_string(want.size()));
    }
    for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
      Differences(got[i], want[i], path + "[" + std::to_string(i) + "]", out);
    }
    return;
  }
  out->push_back(path + ": " + Shown(got) + ", want " + Shown(want));
}

std::string NameOf(const json& resource) {
  for (const char* key : {"name", "cluster_name"}) {
    if (auto it = resource.find(key); it != resource.end() && it->is_string()) return *it;
  }
  return "";
}

google::protobuf::util::TypeResolver* Resolver() {
  static auto* resolver =
      google::protobuf::util::NewTypeResolverForDescriptorPool("type.googleapis.com", &proto::WholeApiPool());
  return resolver;
}

// The names of the resources of a kind that say nothing: the golden's "@leave".
std::set<std::string> LeftOut(const json& golden, const std::string& kind) {
  const auto all = golden.find("@leave");
  return all == golden.end() ? std::set<std::string>() : all->value(kind, std::set<std::string>());
}

}  // namespace

json ToJson(const cache::Resource& resource) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::BinaryToJsonString(
      Resolver(), "type.googleapis.com/google.protobuf.Any", resource.any.Unpacked(), &text, options);
  if (!status.ok()) return {{"name", resource.name.str()}, {"@error", status.ToString()}};
  json value = json::parse(text);
  value.erase("@type");  // of the resource itself: the kind says it
  return value;
}

bool Compare(const Resources& got, const json& golden, const std::string& area, const std::string& proxy,
             const std::vector<std::string>& kinds, Tally* tally, std::vector<std::string>* differences) {
  std::map<std::string, std::map<std::string, std::pair<json, json>>> pairs;  // kind -> name -> (got, want)
  for (const auto& [kind, resources] : got) {
    for (const auto& resource : resources) pairs[kind][resource->name.str()].first = ToJson(*resource);
  }
  for (const auto& [kind, list] : golden.items()) {
    if (kind == "@leave") continue;
    for (const json& resource : list) pairs[kind][NameOf(resource)].second = resource;
  }
  bool same = true;
  for (const auto& [kind, by_name] : pairs) {
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
    const std::set<std::string> left_out = LeftOut(golden, kind);
    for (const auto& [name, pair] : by_name) {
      if (left_out.contains(name)) continue;
      Count& count = (*tally)[{area, kind}];
      ++count.total;
      const auto& [ours, theirs] = pair;
      if (ours == theirs) {
        ++count.equal;
        continue;
      }
      same = false;
      const std::string prefix = StrCat(proxy, " ", kind, " ", name);
      if (ours.is_null()) {
        differences->push_back(prefix + ": not sent");
      } else if (theirs.is_null()) {
        differences->push_back(prefix + ": not in golden");
      } else {
        std::vector<std::string> found;
        Differences(ours, theirs, "", &found);
        for (const std::string& d : found) differences->push_back(StrCat(prefix, " ", d));
      }
    }
  }
  return same;
}

}  // namespace fairlead::corpus
