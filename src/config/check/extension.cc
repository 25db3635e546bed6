#include <algorithm>
#include <set>

#include "base/go_url.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"

namespace fairlead::config::check {
namespace {

namespace ext = istio::extensions::v1alpha1;

void CheckModuleUrl(const std::string& text, const Spot& at) {
  if (text.empty()) return at.Error("missing-field", "this field is required");
  std::string full = text;
  std::optional<GoUrl> url = ParseRequestUri(full);
  if (!url) {
    full = StrCat("http://", text);
    url = ParseRequestUri(full);
  }
  if (!url || !ParseUrl(full)) return at.Refuse(StrCat("\"", text, "\" is no URL"));
  for (std::string_view scheme : {"", "file", "http", "https", "oci"}) {
    if (url->scheme == scheme) return;
  }
  at.Refuse(StrCat("unknown scheme \"", url->scheme, "\""));
}

void CheckVariables(const ext::VmConfig& vm, const Spot& at) {
  std::set<std::string_view> names;
  const Spot list(at, "env");
  for (int i = 0; i < vm.env_size(); ++i) {
    const ext::EnvVar& variable = vm.env(i);
    const Spot here(list, static_cast<size_t>(i));
    if (variable.name().empty() || variable.name().size() > 256)
      here.Field("name").Error("out-of-range", "a variable's name has 1 to 256 bytes");
    if (!names.insert(variable.name()).second)
      here.Error("duplicate-item", StrCat("another variable is \"", variable.name(), "\""));
    if (variable.value_from() != ext::EnvValueSource::INLINE && !variable.value().empty())
      here.Field("value").Error("conflict", "a value is only set with valueFrom INLINE");
  }
}

// What a WasmPlugin and the wasm part of a TrafficExtension have in common.
template <typename Module>
void CheckModule(const Module& module, const Spot& at) {
  CheckModuleUrl(module.url(), Spot(at, "url"));
  const std::string& sum = module.sha256();
  const bool hex = std::all_of(sum.begin(), sum.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!sum.empty() && (sum.size() != 64 || !hex))
    at.Field("sha256").Refuse("a checksum has 64 hexadecimal digits, lower-case");
  if (module.image_pull_secret().size() > 253)
    at.Field("imagePullSecret").Error("out-of-range", "a secret's name has at most 253 bytes");
  if (module.plugin_name().size() > 256)
    at.Field("pluginName").Error("out-of-range", "a plugin's name has at most 256 bytes");
  if (module.has_vm_config()) CheckVariables(module.vm_config(), Spot(at, "vmConfig"));
}

template <typename Selectors>
void CheckMatch(const Selectors& selectors, const Spot& at) {
  for (int i = 0; i < selectors.size(); ++i) {
    const Spot here(at, static_cast<size_t>(i));
    const Spot ports(here, "ports");
    for (int j = 0; j < selectors[i].ports_size(); ++j) {
      const Spot port(ports, static_cast<size_t>(j));
      port.Field("number").Refuse(PortProblem(selectors[i].ports(j).number()));
    }
  }
}

}  // namespace

void CheckWasmPlugin(const google::protobuf::Message& message, const Spot& spec) {
  const auto& plugin = static_cast<const ext::WasmPlugin&>(message);
  CheckTargets(plugin, spec);
  CheckModule(plugin, spec);
  CheckMatch(plugin.match(), Spot(spec, "match"));
}

void CheckTrafficExtension(const google::protobuf::Message& message, const Spot& spec) {
  constexpr size_t kLargestCode = 65536;
  const auto& extension = static_cast<const ext::TrafficExtension&>(message);
  if (extension.has_wasm() == extension.has_lua()) spec.Error("conflict", "one of wasm and lua is required");
  CheckTargets(extension, spec);
  if (extension.has_lua()) {
    const Spot lua(spec, "lua");
    const size_t size = extension.lua().inline_code().size();
    if (size == 0 || size > kLargestCode)
      lua.Field("inlineCode").Error("out-of-range", "the code has 1 to 65536 bytes");
  }
  if (extension.has_wasm()) CheckModule(extension.wasm(), Spot(spec, "wasm"));
  CheckMatch(extension.match(), Spot(spec, "match"));
}

}  // namespace fairlead::config::check
