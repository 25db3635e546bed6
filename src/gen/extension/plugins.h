#ifndef FAIRLEAD_GEN_EXTENSION_PLUGINS_H_
#define FAIRLEAD_GEN_EXTENSION_PLUGINS_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "mesh/view/view.h"

namespace envoy::config::listener::v3 {
class Filter;
}
namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpFilter;
}

// WasmPlugins and TrafficExtensions, which are one thing: a WasmPlugin counts as a TrafficExtension with a
// marked name, as in Istio. A Lua script stands in its listeners; of a Wasm module these say that it is to be
// discovered by name (ECDS).
namespace fairlead::gen::extension {

// The phases of plugins, in the order in which requests and connections pass them. Numbers as in the API.
enum class Phase : uint8_t { kUnspecified = 0, kAuthn = 1, kAuthz = 2, kStats = 3 };

// Objects of both kinds, see CollectPlugins.
using Plugins = std::vector<config::ConfigPtr>;

// The plugins of the client: those of its own namespace and of the root namespace that select it. Higher
// priority comes first (none is the lowest), then its own namespace, then age. Invalid plugins are left out.
// Source: Istio's TrafficExtensionsByListenerInfo.
Plugins CollectPlugins(mesh::View& view);

// Where filters go: traffic to the workload, or what it, or a gateway, sends on; and the port that matches
// are compared with.
struct FilterPlace {
  bool server = false;
  uint32_t port = 0;
};

// Whether what is made of them depends on ports.
bool DependOnPorts(const Plugins& plugins);
// The plugins for connections without HTTP.
Plugins NetworkPlugins(const Plugins& plugins);

// Append the filters of one phase. `has_wasm`: whether the proxy can run modules at all; where it cannot,
// what it discovers is a verdict (see BuildExtension). Pure. Source: Istio's PopAppendHTTPTrafficExtension,
// PopAppendNetworkTrafficExtension.
void AddHttpPlugins(const Plugins& plugins, Phase phase, const FilterPlace& place, bool has_wasm,
                    google::protobuf::RepeatedPtrField<
                        envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter>* out);
void AddNetworkPlugins(const Plugins& plugins, Phase phase, const FilterPlace& place, bool has_wasm,
                       google::protobuf::RepeatedPtrField<envoy::config::listener::v3::Filter>* out);

// The name by which a proxy discovers a plugin, "extensions.istio.io/trafficextension/NAMESPACE.NAME", taken
// apart.
struct PluginName {
  std::string_view ns, name;  // both "": it is none
  bool wasm_plugin = false;   // of that kind; `name` is without the mark
};
PluginName ParsePluginName(std::string_view resource);

// The end of WasmPlugins' filter names: no object's name has a tilde.
inline constexpr std::string_view kWasmPluginMark = "~istio-translated-wasmplugin";

// The extension of Istio's proxies for modules. A proxy that lists it can run modules.
inline constexpr std::string_view kHttpWasm = "envoy.filters.http.wasm";

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_PLUGINS_H_
