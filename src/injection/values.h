#ifndef FAIRLEAD_INJECTION_VALUES_H_
#define FAIRLEAD_INJECTION_VALUES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace fairlead::injection {

// What the injector itself reads of its values; templates see all of them.
struct Values {
  std::string hub, variant, tag;
  std::string proxy_image = "proxyv2", init_image = "proxyv2";
  std::string cluster, network;
  bool hold_application = false, rewrite_probes = false;
};

// InvalidArgument, as Istio says it, where a value has another type.
absl::StatusOr<Values> ReadValues(const nlohmann::json& values);

// HUB/IMAGE:TAG of the proxy and of the init container. An image type replaces the one that the tag ends
// with; "default" appends none. `type` is the ProxyConfig's; the annotation (null: none) beats it.
std::string ProxyImage(const Values& values, const std::string& type, const std::string* annotation);
std::string ProxyInitImage(const Values& values, const std::string* annotation);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_VALUES_H_
