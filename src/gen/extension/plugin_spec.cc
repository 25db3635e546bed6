#include "gen/extension/plugin_spec.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "base/go_url.h"
#include "base/strings.h"
#include "config/read/lua.h"

namespace fairlead::gen::extension {
namespace {

using istio::extensions::v1alpha1::PluginType;
using istio::extensions::v1alpha1::TrafficExtension;
using istio::extensions::v1alpha1::WasmPlugin;
using istio::type::v1beta1::WorkloadMode;

constexpr size_t kLongestScript = 65536;

bool IsMode(WorkloadMode mode, bool server) {
  switch (mode) {
    case WorkloadMode::CLIENT:
      return !server;
    case WorkloadMode::SERVER:
      return server;
    default:
      return true;
  }
}

template <typename Selector>
bool Matches(const Selector& selector, const FilterPlace& place) {
  const auto& ports = selector.ports();
  return IsMode(selector.mode(), place.server) &&
         (ports.empty() || std::any_of(ports.begin(), ports.end(), [&](const auto& port) {
            return port.number() != 0 && port.number() == place.port;
          }));
}

template <typename Selectors>
bool MatchesAny(const Selectors& selectors, const FilterPlace& place) {
  return selectors.empty() || std::any_of(selectors.begin(), selectors.end(),
                                          [&](const auto& selector) { return Matches(selector, place); });
}

template <typename Selectors>
bool AnyHasPorts(const Selectors& selectors) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [](const auto& selector) { return !selector.ports().empty(); });
}

}  // namespace

PluginSpec::PluginSpec(const config::ConfigObject& object) : object_(object) {
  if (object.kind() == config::Kind::kWasmPlugin) {
    plugin_ = &object.Spec<WasmPlugin>();
  } else {
    extension_ = &object.Spec<TrafficExtension>();
  }
}

Phase PluginSpec::phase() const {
  const int number =
      plugin_ != nullptr ? static_cast<int>(plugin_->phase()) : static_cast<int>(extension_->phase());
  return number >= 0 && number <= static_cast<int>(Phase::kStats) ? static_cast<Phase>(number)
                                                                  : Phase::kUnspecified;
}

int32_t PluginSpec::priority() const {
  constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
  if (plugin_ != nullptr) return plugin_->has_priority() ? plugin_->priority().value() : kLowest;
  return extension_->has_priority() ? extension_->priority().value() : kLowest;
}

bool PluginSpec::MatchesTraffic(const FilterPlace& place) const {
  return plugin_ != nullptr ? MatchesAny(plugin_->match(), place) : MatchesAny(extension_->match(), place);
}

bool PluginSpec::HasPorts() const {
  return plugin_ != nullptr ? AnyHasPorts(plugin_->match()) : AnyHasPorts(extension_->match());
}

bool PluginSpec::IsValid() const {
  if (IsLua()) return !lua().empty() && lua().size() <= kLongestScript && config::LuaProblem(lua()).empty();
  if (extension_ != nullptr && !extension_->has_wasm()) return false;
  return WithWasm(
      [](const auto& wasm) { return !wasm.url().empty() && ParseModuleUrl(wasm.url()).has_value(); });
}

bool PluginSpec::IsNetwork() const {
  return !IsLua() && WithWasm([](const auto& wasm) { return wasm.type() == PluginType::NETWORK; });
}

std::string PluginSpec::Name() const {
  return StrCat(object_.ns().str(), ".", object_.name().str(), plugin_ != nullptr ? kWasmPluginMark : "");
}

std::optional<ModuleUrl> ParseModuleUrl(const std::string& url) {
  const std::optional<GoUrl> parsed = ParseUrl(url);
  if (!parsed) return std::nullopt;
  if (parsed->scheme.empty()) return ModuleUrl{false, StrCat("oci://", url)};
  constexpr std::string_view kFile = "file://";
  if (parsed->scheme == "file")
    return ModuleUrl{true, url.starts_with(kFile) ? url.substr(kFile.size()) : url};
  return ModuleUrl{false, StrCat(parsed->scheme, std::string_view(url).substr(parsed->scheme.size()))};
}

}  // namespace fairlead::gen::extension
