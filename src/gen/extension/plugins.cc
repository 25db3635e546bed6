#include "gen/extension/plugins.h"

#include <algorithm>

#include "base/strings.h"
#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/extensions/filters/http/lua/v3/lua.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/extension/plugin_spec.h"
#include "proto/messages.h"

namespace fairlead::gen::extension {
namespace {

using config::ConfigPtr;
using envoy::config::core::v3::ExtensionConfigSource;
using envoy::config::listener::v3::Filter;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;

constexpr std::string_view kPrefix = "extensions.istio.io/trafficextension/";
constexpr std::string_view kType = "type.googleapis.com/envoy.extensions.filters.";

// Istio lists plugins by age, then by name with namespace, then takes the client's namespace first.
bool IsOlder(const ConfigPtr& a, const ConfigPtr& b) {
  const auto age = [](const ConfigPtr& object) { return object->meta().creation_time; };
  if (age(a) != age(b)) return age(a) < age(b);
  const auto name = [](const ConfigPtr& object) {
    const bool marked = object->kind() == config::Kind::kWasmPlugin;
    return StrCat(object->name().str(), marked ? kWasmPluginMark : "", ".", object->ns().str());
  };
  return name(a) < name(b);
}

// A filter that waits for its configuration: nothing passes until it is there. RBAC is what a proxy's agent
// puts in place of a module that it cannot get.
void SetDiscovery(std::string_view layer, bool has_wasm, ExtensionConfigSource* out) {
  proto::SetAds(/*wait=*/true, out->mutable_config_source());
  if (has_wasm) out->add_type_urls(StrCat(kType, layer, ".wasm.v3.Wasm"));
  out->add_type_urls(StrCat(kType, layer, ".rbac.v3.RBAC"));
}

void SetScript(const std::string& code, google::protobuf::Any* out) {
  envoy::extensions::filters::http::lua::v3::Lua lua;
  lua.mutable_default_source_code()->set_inline_string(code);
  proto::Pack(lua, out);
}

// Calls add(spec) for those of the phase that see the traffic.
template <typename Add>
void ForEach(const Plugins& plugins, Phase phase, const FilterPlace& place, bool network, Add&& add) {
  for (const ConfigPtr& object : plugins) {
    const PluginSpec spec(*object);
    if (spec.phase() == phase && spec.IsNetwork() == network && spec.MatchesTraffic(place)) add(spec);
  }
}

std::string ResourceName(const PluginSpec& spec) { return StrCat(kPrefix, spec.Name()); }

}  // namespace

Plugins CollectPlugins(mesh::View& view) {
  Plugins plugins = view.Policies(config::Kind::kTrafficExtension);
  const Plugins wasm = view.Policies(config::Kind::kWasmPlugin);
  plugins.insert(plugins.end(), wasm.begin(), wasm.end());
  std::erase_if(plugins, [](const ConfigPtr& object) { return !PluginSpec(*object).IsValid(); });
  if (plugins.empty()) return plugins;
  const Interned own(view.client_namespace());
  std::sort(plugins.begin(), plugins.end(), [&](const ConfigPtr& a, const ConfigPtr& b) {
    const bool a_own = a->ns() == own, b_own = b->ns() == own;
    return a_own != b_own ? a_own : IsOlder(a, b);
  });
  std::stable_sort(plugins.begin(), plugins.end(), [](const ConfigPtr& a, const ConfigPtr& b) {
    return PluginSpec(*a).priority() > PluginSpec(*b).priority();
  });
  return plugins;
}

bool DependOnPorts(const Plugins& plugins) {
  return std::any_of(plugins.begin(), plugins.end(),
                     [](const ConfigPtr& object) { return PluginSpec(*object).HasPorts(); });
}

Plugins NetworkPlugins(const Plugins& plugins) {
  Plugins network;
  std::copy_if(plugins.begin(), plugins.end(), std::back_inserter(network),
               [](const ConfigPtr& object) { return PluginSpec(*object).IsNetwork(); });
  return network;
}

void AddHttpPlugins(const Plugins& plugins, Phase phase, const FilterPlace& place, bool has_wasm,
                    google::protobuf::RepeatedPtrField<HttpFilter>* out) {
  ForEach(plugins, phase, place, /*network=*/false, [&](const PluginSpec& spec) {
    HttpFilter* filter = out->Add();
    filter->set_name(ResourceName(spec));
    if (spec.IsLua()) return SetScript(spec.lua(), filter->mutable_typed_config());
    SetDiscovery("http", has_wasm, filter->mutable_config_discovery());
  });
}

void AddNetworkPlugins(const Plugins& plugins, Phase phase, const FilterPlace& place, bool has_wasm,
                       google::protobuf::RepeatedPtrField<Filter>* out) {
  ForEach(plugins, phase, place, /*network=*/true, [&](const PluginSpec& spec) {
    Filter* filter = out->Add();
    filter->set_name(ResourceName(spec));
    SetDiscovery("network", has_wasm, filter->mutable_config_discovery());
  });
}

PluginName ParsePluginName(std::string_view resource) {
  PluginName parsed;
  if (!resource.starts_with(kPrefix)) return parsed;
  resource.remove_prefix(kPrefix.size());
  const size_t dot = resource.find('.');
  if (dot == std::string_view::npos) return parsed;
  parsed.ns = resource.substr(0, dot);
  parsed.name = resource.substr(dot + 1);
  parsed.wasm_plugin = parsed.name.ends_with(kWasmPluginMark);
  if (parsed.wasm_plugin) parsed.name.remove_suffix(kWasmPluginMark.size());
  return parsed;
}

}  // namespace fairlead::gen::extension
