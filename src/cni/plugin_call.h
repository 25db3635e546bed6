#ifndef FAIRLEAD_CNI_PLUGIN_CALL_H_
#define FAIRLEAD_CNI_PLUGIN_CALL_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::cni {

// The versions of the specification whose results pass through this plugin, oldest first.
// Source: github.com/containernetworking/cni/blob/main/SPEC.md
inline constexpr std::string_view kCniVersions[] = {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};

// The specification's codes of errors.
enum class CniError : int {
  kVersion = 1,      // of the configuration
  kEnvironment = 4,  // a variable is missing or wrong
  kNoContent = 6,    // the configuration is no JSON
  kConfig = 7,
  kTryAgain = 11,
  kNotAvailable = 50,  // of STATUS
  kPlugin = 100,       // rules could not be applied
  kNotThere = 101,     // of CHECK
};

// What a container runtime asks.
struct PluginCall {
  std::string command;  // ADD, DEL, CHECK, GC, STATUS, VERSION
  std::string container, network_namespace, interface;
  std::string pod, pod_namespace;  // "": no Pod of Kubernetes
};

// The plugin's network configuration.
struct PluginConfig {
  std::string cni_version, name;
  std::optional<nlohmann::ordered_json> previous;  // the result of the plugins before
  std::string kubeconfig;
  std::vector<std::string> excluded_namespaces;
  std::string own_namespace;  // of the installer: its pods are left alone
  bool native_nftables = false;
  std::string log_level = "info";
};

struct PluginFailure {
  CniError code;
  std::string message, details;
};

template <typename T>
struct PluginResult {
  std::optional<T> value;
  PluginFailure failure = {CniError::kPlugin, "", ""};
};

// Of the process's environment: `get` gives a variable's value or null.
PluginResult<PluginCall> ReadPluginCall(const std::function<const char*(const char*)>& get);

// Of what the runtime writes to standard input. For VERSION only `cni_version` counts, and it may be any.
PluginResult<PluginConfig> ReadPluginConfig(std::string_view text, std::string_view command);

// Answers, for standard output.
std::string ResultText(const PluginConfig& config);
std::string FailureText(std::string_view cni_version, const PluginFailure& failure);
std::string VersionsText(std::string_view cni_version);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_PLUGIN_CALL_H_
