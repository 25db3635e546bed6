#ifndef FAIRLEAD_INJECTION_SURROUNDINGS_H_
#define FAIRLEAD_INJECTION_SURROUNDINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "injection/proxy_config.h"

namespace fairlead::injection {

// Whether sidecars are init containers that go on: where all nodes can run those, always, never. As istiod's
// ENABLE_NATIVE_SIDECARS.
enum class NativeSidecars : uint8_t { kAuto, kAlways, kNever };
// "auto", or a boolean; nothing otherwise.
std::optional<NativeSidecars> ParseNativeSidecars(std::string_view text);

struct ClusterNode {
  std::string name, kubelet_version;
};

// A cluster whose API server is read.
struct ClusterFacts {
  std::vector<ClusterNode> nodes;
  std::map<std::string, LabelMap> namespace_annotations;
};

// What decides about an injection besides the injector's configuration.
struct PodSurroundings {
  std::string revision;
  std::string compliance_policy;
  NativeSidecars native = NativeSidecars::kAuto;
  bool openshift = false;
  ProxyConfigResources proxy_configs;
  std::map<std::string, ClusterFacts> clusters;  // by id
};

// Whether a pod's sidecar may be native. With kAuto every node must run Kubernetes 1.33 or later, or the
// pod's own node where it is told and known; a cluster without nodes can, an unknown one cannot.
bool CanBeNative(const PodSurroundings& surroundings, const std::string& cluster, const std::string& node);

// The user and group of the proxy.
struct ProxyIds {
  int64_t user = 1337, group = 1337;
};
// On OpenShift the last ones of the namespace's ranges.
ProxyIds ProxyIdsOf(const LabelMap& namespace_annotations);

// The variables of an injection path: /inject/cluster/east/net/n1 and /inject/NAME/VALUE…, where --slash--
// stands for a slash in values. Names become upper case.
std::map<std::string, std::string> VariablesOfPath(std::string_view path);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_SURROUNDINGS_H_
