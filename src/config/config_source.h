#ifndef FAIRLEAD_CONFIG_CONFIG_SOURCE_H_
#define FAIRLEAD_CONFIG_CONFIG_SOURCE_H_

#include <algorithm>
#include <string_view>
#include <vector>

namespace fairlead::config {

// The platforms that objects can be read from besides Kubernetes, as the schemes of their addresses.
inline const std::vector<std::string_view>& PlatformSchemes() {
  static const std::vector<std::string_view> schemes = {"consul",   "copilot", "dns+srv", "etcd",
                                                        "marathon", "mesos",   "xds"};
  return schemes;
}

// Whether an address of a MeshConfig's configSources is of such a platform.
inline bool IsPlatformSource(std::string_view address) {
  const std::string_view scheme = address.substr(0, address.find("://"));
  const auto& schemes = PlatformSchemes();
  return scheme.size() < address.size() && std::find(schemes.begin(), schemes.end(), scheme) != schemes.end();
}

// The folder of fs:///PATH; "" for any other address. Source: Istio's initConfigSources.
inline std::string_view FolderOfSource(std::string_view address) {
  constexpr std::string_view kScheme = "fs://";
  return address.starts_with("fs:///") ? address.substr(kScheme.size()) : "";
}
// Whether it stands for the API server that is read anyway.
inline bool IsClusterSource(std::string_view address) { return address == "k8s://" || address == "k8s:///"; }

// Whether an address has an effect.
inline bool IsKnownSource(std::string_view address) {
  return IsPlatformSource(address) || !FolderOfSource(address).empty() || IsClusterSource(address);
}

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CONFIG_SOURCE_H_
