#ifndef FAIRLEAD_GEN_EXTENSION_PULL_SECRET_H_
#define FAIRLEAD_GEN_EXTENSION_PULL_SECRET_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "config/object.h"
#include "gen/extension/plugin_spec.h"

// Credentials for registries of Wasm images. Source: Istio's GeneratePullSecrets; API: WasmPlugin's
// imagePullSecret.
namespace fairlead::gen::extension {

// The variable of a module's environment that has them on their way to the agent, which takes it out.
inline constexpr std::string_view kPullSecretVariable = "ISTIO_META_WASM_IMAGE_PULL_SECRET";

// The name of the Secret that has them, in the plugin's namespace; nothing where the plugin names none.
// REQUIRES: !plugin.IsLua().
std::optional<std::string> PullSecretName(const PluginSpec& plugin);
// The configuration of a registry's client (docker's config.json). InvalidArgument where the Secret is of
// another type, or lacks it.
absl::StatusOr<std::string> PullCredentials(const config::ConfigObject& secret);

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_PULL_SECRET_H_
