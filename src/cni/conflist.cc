#include "cni/conflist.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

using nlohmann::ordered_json;

std::string TypeOf(const ordered_json& plugin) {
  if (!plugin.is_object()) return "";
  const auto type = plugin.find("type");
  const auto* text = type == plugin.end() ? nullptr : type->get_ptr<const std::string*>();
  return text == nullptr ? "" : *text;
}

std::string Text(const ordered_json& object, const char* name, std::string_view fallback) {
  const auto found = object.find(name);
  const auto* text = found == object.end() ? nullptr : found->get_ptr<const std::string*>();
  return text == nullptr || text->empty() ? std::string(fallback) : *text;
}

// A list of plugins; one plugin as such a list.
absl::StatusOr<ordered_json> ReadList(std::string_view text) {
  auto parsed = ParseOrderedJson(text);
  if (!parsed || !parsed->is_object()) return absl::InvalidArgumentError("it is no JSON object");
  if (!TypeOf(*parsed).empty()) {
    ordered_json list{{"name", Text(*parsed, "name", "k8s-pod-network")},
                      {"cniVersion", Text(*parsed, "cniVersion", "0.3.1")},
                      {"plugins", ordered_json::array()}};
    parsed->erase("cniVersion");
    list["plugins"].push_back(*std::move(parsed));
    return list;
  }
  const auto plugins = parsed->find("plugins");
  if (plugins == parsed->end() || !plugins->is_array() || plugins->empty())
    return absl::InvalidArgumentError("it has neither a type nor plugins");
  for (const ordered_json& plugin : *plugins) {
    if (TypeOf(plugin).empty()) return absl::InvalidArgumentError("one of its plugins has no type");
  }
  return *std::move(parsed);
}

void Remove(std::string_view type, ordered_json* list) {
  ordered_json kept = ordered_json::array();
  for (ordered_json& plugin : (*list)["plugins"]) {
    if (TypeOf(plugin) != type) kept.push_back(std::move(plugin));
  }
  (*list)["plugins"] = std::move(kept);
}

std::string Base64(std::string_view text) { return absl::Base64Escape(ToAbsl(text)); }

}  // namespace

absl::StatusOr<std::string> WithPlugin(std::string_view text, const ordered_json& plugin) {
  auto list = ReadList(text);
  if (!list.ok()) return list.status();
  Remove(TypeOf(plugin), &*list);
  (*list)["plugins"].push_back(plugin);
  return JsonText(*list, 2) + "\n";
}

absl::StatusOr<std::string> WithoutPlugin(std::string_view text, std::string_view type) {
  auto list = ReadList(text);
  if (!list.ok()) return list.status();
  const size_t before = (*list)["plugins"].size();
  Remove(type, &*list);
  if ((*list)["plugins"].size() == before) return std::string(text);
  return JsonText(*list, 2) + "\n";
}

bool IsNetworkConfiguration(std::string_view text) { return ReadList(text).ok(); }

std::string KubeconfigText(std::string_view server, std::string_view roots, std::string_view token) {
  ordered_json cluster{{"server", std::string(server)}};
  if (roots.empty()) {
    cluster["insecure-skip-tls-verify"] = true;
  } else {
    cluster["certificate-authority-data"] = Base64(roots);
  }
  // JSON is YAML, too.
  const ordered_json config{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", ordered_json::array({{{"name", "local"}, {"cluster", cluster}}})},
      {"users",
       ordered_json::array({{{"name", "fairlead-cni"}, {"user", {{"token", std::string(Trim(token))}}}}})},
      {"contexts", ordered_json::array(
                       {{{"name", "local"}, {"context", {{"cluster", "local"}, {"user", "fairlead-cni"}}}}})},
      {"current-context", "local"}};
  return JsonText(config, 2) + "\n";
}

}  // namespace fairlead::cni
