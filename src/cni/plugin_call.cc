#include "cni/plugin_call.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kRunFolder = "/var/run/istio-cni";
constexpr std::string_view kKubeconfigName = "istio-cni-kubeconfig";

template <typename T>
PluginResult<T> Fail(CniError code, std::string message, std::string details = "") {
  return {std::nullopt, {code, std::move(message), std::move(details)}};
}

// "IgnoreUnknown=1;K8S_POD_NAME=web-0": the value of a key; "" where there is none.
std::string ArgumentOf(std::string_view arguments, std::string_view key) {
  for (std::string_view pair : Split(arguments, ';')) {
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key)
      return std::string(pair.substr(equals + 1));
  }
  return "";
}

const ordered_json* Member(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// A member of a type; the name of one that has another type is noted.
class Members {
 public:
  explicit Members(const ordered_json& object) : object_(object) {}

  std::string Text(const char* name, std::string_view fallback = "") {
    const ordered_json* member = Member(object_, name);
    if (member == nullptr) return std::string(fallback);
    const auto* text = member->get_ptr<const std::string*>();
    if (text == nullptr) wrong_ = name;
    return text == nullptr || text->empty() ? std::string(fallback) : *text;
  }

  bool Switch(const char* name) {
    const ordered_json* member = Member(object_, name);
    if (member == nullptr) return false;
    const auto* value = member->get_ptr<const bool*>();
    if (value == nullptr) wrong_ = name;
    return value != nullptr && *value;
  }

  std::vector<std::string> Texts(const char* name) {
    std::vector<std::string> texts;
    const ordered_json* member = Member(object_, name);
    if (member == nullptr) return texts;
    if (!member->is_array()) wrong_ = name;
    for (const ordered_json& one : *member) {
      if (const auto* text = one.get_ptr<const std::string*>()) {
        texts.push_back(*text);
      } else {
        wrong_ = name;
      }
    }
    return texts;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  const ordered_json& object_;
  std::string wrong_;
};

bool IsKnown(std::string_view version) {
  return std::find(std::begin(kCniVersions), std::end(kCniVersions), version) != std::end(kCniVersions);
}

}  // namespace

PluginResult<PluginCall> ReadPluginCall(const std::function<const char*(const char*)>& get) {
  const auto value = [&](const char* name) { return std::string(get(name) == nullptr ? "" : get(name)); };
  PluginCall call{
      value("CNI_COMMAND"), value("CNI_CONTAINERID"), value("CNI_NETNS"), value("CNI_IFNAME"), "", ""};
  const std::string arguments = value("CNI_ARGS");
  call.pod = ArgumentOf(arguments, "K8S_POD_NAME");
  call.pod_namespace = ArgumentOf(arguments, "K8S_POD_NAMESPACE");
  constexpr std::string_view kCommands[] = {"ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"};
  if (std::find(std::begin(kCommands), std::end(kCommands), call.command) == std::end(kCommands))
    return Fail<PluginCall>(CniError::kEnvironment, StrCat("CNI_COMMAND is \"", call.command, "\""),
                            "it is ADD, DEL, CHECK, GC, STATUS or VERSION");
  const bool of_container = call.command == "ADD" || call.command == "DEL" || call.command == "CHECK";
  std::vector<std::string> missing;
  if (of_container && call.container.empty()) missing.emplace_back("CNI_CONTAINERID");
  if (of_container && call.interface.empty()) missing.emplace_back("CNI_IFNAME");
  // The namespace may be gone when a container is deleted.
  if (of_container && call.command != "DEL" && call.network_namespace.empty())
    missing.emplace_back("CNI_NETNS");
  if (!missing.empty())
    return Fail<PluginCall>(CniError::kEnvironment,
                            StrCat(Join(missing, ", "), ": required for ", call.command));
  return {std::move(call)};
}

PluginResult<PluginConfig> ReadPluginConfig(std::string_view text, std::string_view command) {
  const auto parsed = ParseOrderedJson(text);
  if (!parsed || !parsed->is_object())
    return Fail<PluginConfig>(CniError::kNoContent,
                              "the network configuration on standard input is no JSON object");
  Members members(*parsed);
  PluginConfig config;
  config.cni_version = members.Text("cniVersion", "0.1.0");
  if (command == "VERSION") return {std::move(config)};
  if (!IsKnown(config.cni_version))
    return Fail<PluginConfig>(CniError::kVersion, StrCat("incompatible CNI version ", config.cni_version),
                              StrCat("known are ", Join(kCniVersions, ", ")));
  config.name = members.Text("name");
  config.kubeconfig =
      members.Text("kubeconfig", StrCat(members.Text("cni_agent_run_dir", kRunFolder), "/", kKubeconfigName));
  config.excluded_namespaces = members.Texts("exclude_namespaces");
  config.own_namespace = members.Text("pod_namespace");
  config.native_nftables = members.Switch("native_nftables");
  config.log_level = members.Text("plugin_log_level", "info");
  if (const ordered_json* previous = Member(*parsed, "prevResult")) config.previous = *previous;
  if (!members.wrong().empty())
    return Fail<PluginConfig>(CniError::kConfig,
                              StrCat("the network configuration's ", members.wrong(), " has another type"));
  if (config.previous && !config.previous->is_object())
    return Fail<PluginConfig>(CniError::kConfig, "the network configuration's prevResult is no object");
  if (members.Switch("ambient_enabled"))
    return Fail<PluginConfig>(CniError::kConfig, "the network configuration's ambient_enabled is true",
                              "this plugin redirects traffic to sidecars alone");
  return {std::move(config)};
}

std::string ResultText(const PluginConfig& config) {
  ordered_json result = config.previous ? *config.previous : ordered_json::object();
  result["cniVersion"] = config.cni_version;
  return JsonText(result, 2);
}

std::string FailureText(std::string_view cni_version, const PluginFailure& failure) {
  ordered_json error{{"cniVersion", std::string(cni_version)},
                     {"code", static_cast<int>(failure.code)},
                     {"msg", failure.message}};
  if (!failure.details.empty()) error["details"] = failure.details;
  return JsonText(error, 2);
}

std::string VersionsText(std::string_view cni_version) {
  ordered_json versions = ordered_json::array();
  for (const std::string_view version : kCniVersions) versions.push_back(std::string(version));
  return JsonText(ordered_json{{"cniVersion", std::string(cni_version)}, {"supportedVersions", versions}}, 2);
}

}  // namespace fairlead::cni
