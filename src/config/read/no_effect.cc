#include "config/read/no_effect.h"

#include <optional>
#include <string>

#include "base/strings.h"

namespace fairlead::config {
namespace {

constexpr std::string_view kInjection = "it is for the injection of sidecars, which Fairlead does not do";
constexpr std::string_view kAlpha = "alpha kinds of the Gateway API are off, as they are by default in Istio";
constexpr std::string_view kGatewaysAlone = "UDP is routed at gateways alone, not at sidecars";
constexpr std::string_view kNeither = "neither Istio nor Fairlead acts on it";

constexpr NoEffect kTable[] = {
    {Kind::kProxyConfig, "", kInjection},
    {Kind::kUdpRoute, "spec.parentRefs[].kind=Service", kGatewaysAlone},
    {Kind::kUdpRoute, "spec.parentRefs[].kind=ServiceEntry", kGatewaysAlone},
    {Kind::kXListenerSet, "", "XListenerSet is not read any more; ListenerSet has taken its place"},
    {Kind::kXBackendTrafficPolicy, "", kAlpha},
    {Kind::kInferencePool, "",
     "it takes ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true of discovery, as with Istio"},
    {Kind::kServiceExport, "", "it takes ENABLE_MCS_SERVICE_DISCOVERY=true of discovery, as with Istio"},
    {Kind::kServiceImport, "", "it takes ENABLE_MCS_HOST=true of discovery, as with Istio"},
    {Kind::kEnvoyFilter, "spec.configPatches[].applyTo=BOOTSTRAP",
     "a bootstrap is made before discovery is asked, as with Istio"},
    {Kind::kEnvoyFilter, "spec.configPatches[].patch.filterClass", kNeither},
    {Kind::kVirtualService, "spec.tcp[].match[].sourceSubnet", kNeither},
    {Kind::kVirtualService, "spec.tls[].match[].sourceSubnet", kNeither},
    {Kind::kDestinationRule, "spec.trafficPolicy.loadBalancer.backendUtilization", kNeither},
    {Kind::kDestinationRule, "spec.trafficPolicy.portLevelSettings[].loadBalancer.backendUtilization",
     kNeither},
    {Kind::kDestinationRule, "spec.subsets[].trafficPolicy.loadBalancer.backendUtilization", kNeither},
    {Kind::kDestinationRule,
     "spec.subsets[].trafficPolicy.portLevelSettings[].loadBalancer.backendUtilization", kNeither},
    {Kind::kRequestAuthentication, "spec.jwtRules[].presence", kNeither},
    {Kind::kWasmPlugin, "spec.verificationKey", kNeither},
    {Kind::kTrafficExtension, "spec.wasm.verificationKey", kNeither},
    {Kind::kHttpRoute, "spec.rules[].sessionPersistence", kNeither},
    {Kind::kGrpcRoute, "spec.rules[].sessionPersistence", kNeither},
    {Kind::kHttpRoute, "spec.useDefaultGateways", kNeither},
    {Kind::kGrpcRoute, "spec.useDefaultGateways", kNeither},
};

struct Place {
  Node node;
  std::string path;
};

std::optional<Place> FindFirst(Node node, std::string_view rest, std::string path, std::string_view value);

std::optional<Place> FindInList(Node list, std::string_view rest, const std::string& path,
                                std::string_view value) {
  size_t index = 0;
  for (const Node element : list.elements()) {
    if (auto found = FindFirst(element, rest, StrCat(path, "[", index, "]"), value)) return found;
    ++index;
  }
  return std::nullopt;
}

// The first place below the node that a path of the table names; `value`: with this text alone, "" for any.
std::optional<Place> FindFirst(Node node, std::string_view rest, std::string path, std::string_view value) {
  if (rest.empty()) {
    if (node.IsNull() || (!value.empty() && node.text() != value)) return std::nullopt;
    return Place{node, std::move(path)};
  }
  const size_t dot = rest.find('.');
  std::string_view name = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  const bool list = name.ends_with("[]");
  if (list) name.remove_suffix(2);
  const Node next = node.Find(name);
  if (!path.empty()) path.push_back('.');
  StrAppend(&path, name);
  return list ? FindInList(next, rest, path, value) : FindFirst(next, rest, std::move(path), value);
}

}  // namespace

std::span<const NoEffect> NoEffectTable() { return kTable; }

void NoteNoEffect(Kind kind, Node document, Report& report) {
  for (const NoEffect& row : kTable) {
    if (row.kind != kind) continue;
    const size_t equals = row.path.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : row.path.substr(equals + 1);
    const auto found = FindFirst(document, row.path.substr(0, equals), "", value);
    if (found)
      report.Warning(kNoEffectCode, found->node.line(), found->path, StrCat("this has no effect: ", row.why));
  }
}

}  // namespace fairlead::config
