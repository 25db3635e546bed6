#ifndef FAIRLEAD_GEN_EXTENSION_PLUGIN_SPEC_H_
#define FAIRLEAD_GEN_EXTENSION_PLUGIN_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "config/object.h"
#include "gen/extension/plugins.h"
#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"

namespace fairlead::gen::extension {

// One view of both kinds. REQUIRES: the object outlives it.
class PluginSpec {
 public:
  explicit PluginSpec(const config::ConfigObject& object);

  const config::ConfigObject& object() const { return object_; }
  Phase phase() const;
  int32_t priority() const;  // the lowest there is, where none is set
  bool MatchesTraffic(const FilterPlace& place) const;
  bool HasPorts() const;
  // Whether it can be made into filters at all.
  bool IsValid() const;
  bool IsLua() const { return extension_ != nullptr && extension_->has_lua(); }
  const std::string& lua() const { return extension_->lua().inline_code(); }
  bool IsNetwork() const;  // a Wasm module for connections
  // "NAMESPACE.NAME", with the mark of WasmPlugins.
  std::string Name() const;
  // Calls visit(config) with its Wasm configuration: a WasmPlugin or a WasmConfig, which name fields alike.
  // REQUIRES: !IsLua().
  template <typename Visit>
  auto WithWasm(Visit&& visit) const {
    return plugin_ != nullptr ? visit(*plugin_) : visit(extension_->wasm());
  }

 private:
  const config::ConfigObject& object_;
  const istio::extensions::v1alpha1::WasmPlugin* plugin_ = nullptr;  // of the two one is set
  const istio::extensions::v1alpha1::TrafficExtension* extension_ = nullptr;
};

// Where a module is, by its URL: without a scheme it is an image (oci://).
struct ModuleUrl {
  bool file = false;
  std::string location;  // a path where it is a file, else the URL
};
// Nothing where the text is no URL.
std::optional<ModuleUrl> ParseModuleUrl(const std::string& url);

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_PLUGIN_SPEC_H_
