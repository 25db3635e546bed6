#ifndef FAIRLEAD_GEN_EXTENSION_BUILD_H_
#define FAIRLEAD_GEN_EXTENSION_BUILD_H_

#include <string>
#include <string_view>
#include <utility>

#include "config/object.h"

namespace envoy::config::core::v3 {
class TypedExtensionConfig;
}

namespace fairlead::gen::extension {

// The values behind a plugin's configuration. REQUIRES: the object is a valid plugin of a Wasm module.
struct ExtensionInputs {
  config::ConfigPtr object;
  bool has_wasm = true;  // whether the proxy can run modules
  config::ConfigPtr pull_secret =
      nullptr;  // with the credentials for its image; null: none, or not for this client
  friend bool operator==(const ExtensionInputs&, const ExtensionInputs&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ExtensionInputs& inputs) {
    return H::combine(std::move(h), inputs.object, inputs.has_wasm, inputs.pull_secret);
  }
};

// A Wasm filter; where the proxy cannot run it, a filter that refuses everything, or with failStrategy
// FAIL_OPEN nothing. Pure. Source: Istio's InsertedTrafficExtensionConfigurations.
void BuildExtension(const ExtensionInputs& inputs, std::string_view name,
                    envoy::config::core::v3::TypedExtensionConfig* out);

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_BUILD_H_
