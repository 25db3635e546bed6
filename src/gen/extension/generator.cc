#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "cache/byte_cache.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "gen/extension/build.h"
#include "gen/extension/plugin_spec.h"
#include "gen/extension/plugins.h"
#include "gen/extension/pull_secret.h"
#include "gen/patch/apply.h"
#include "gen/patch/pool.h"
#include "gen/resource/origins.h"
#include "gen/resource/warn_once.h"

namespace fairlead::gen {
namespace extension {
namespace {

using envoy::config::core::v3::TypedExtensionConfig;

LogScope ecds_log("ecds");

// ECDS: configurations that filters of listeners ask for by name: those that EnvoyFilters add, and the
// modules of WasmPlugins and TrafficExtensions in the client's namespace and the root namespace. A name of
// nothing gets nothing: the proxy waits. Source: Istio's BuildExtensionConfiguration.
class ExtensionGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    // What is discovered has no side: any context of a patch counts.
    const patch::PatchSetPtr patches = patches_.Collect(view, patch::Side::kOutbound);
    for (const std::string& name : *names) {
      cache::ResourcePtr resource = patches == nullptr ? nullptr : Added(patches, name);
      if (resource == nullptr) resource = Plugin(view, name);
      if (resource != nullptr) out.push_back(std::move(resource));
    }
    return out;
  }

  void Sweep(Clock::time_point now) override {
    added_.Sweep(now);
    plugins_.Sweep(now);
    patches_.Sweep(now);
  }

 private:
  cache::ResourcePtr Added(const patch::PatchSetPtr& patches, const std::string& name) {
    const TypedExtensionConfig* config = patch::AddedExtension(*patches, name);
    if (config == nullptr) return nullptr;
    const std::shared_ptr<const TypedExtensionConfig> held(patches, config);
    return added_.GetOrBuild(held, [](const auto& added) { return Encode(added->name(), *added); });
  }

  cache::ResourcePtr Plugin(mesh::View& view, const std::string& name) {
    const config::ConfigPtr object = FindPlugin(view, ParsePluginName(name));
    if (object == nullptr) return nullptr;
    const PluginSpec spec(*object);
    if (!spec.IsValid() || spec.IsLua()) return nullptr;
    const bool has_wasm = view.proxy_class().HasExtension(kHttpWasm);
    const config::ConfigPtr secret = has_wasm ? PullSecret(view, spec) : nullptr;
    return plugins_.GetOrBuild({object, has_wasm, secret}, [&](const ExtensionInputs& inputs) {
      if (inputs.pull_secret != nullptr) WarnOfPullSecret(*inputs.pull_secret);
      TypedExtensionConfig config;
      BuildExtension(inputs, name, &config);
      return Encode(name, config, Audience::kMany,
                    OriginList().Add(inputs.object).Add(inputs.pull_secret).Take());
    });
  }

  // For clients that have proven who they are and that the plugin is for; null for others.
  static config::ConfigPtr PullSecret(mesh::View& view, const PluginSpec& plugin) {
    const std::optional<std::string> name = PullSecretName(plugin);
    if (!name || !view.identity()) return nullptr;
    const std::vector<config::ConfigPtr> own = view.Policies(plugin.object().kind());
    const bool is_for_client = std::any_of(own.begin(), own.end(), [&](const config::ConfigPtr& object) {
      return object.get() == &plugin.object();
    });
    if (!is_for_client) return nullptr;
    config::ConfigPtr secret = view.Object(config::Kind::kSecret, plugin.object().ns(), Interned(*name));
    if (secret == nullptr) {
      WarnOnce(ecds_log, StrCat(config::Describe(config::KeyOf(plugin.object())), ": there is no Secret ",
                                plugin.object().ns().str(), "/", *name, " to pull its image with"));
    }
    return secret;
  }

  static void WarnOfPullSecret(const config::ConfigObject& secret) {
    if (const auto credentials = PullCredentials(secret); !credentials.ok()) {
      ecds_log.Warn("{}: no image can be pulled with it: {}", config::Describe(config::KeyOf(secret)),
                    FromAbsl(credentials.status().message()));
    }
  }

  // Whether or not it selects the client, as in Istio.
  static config::ConfigPtr FindPlugin(mesh::View& view, const PluginName& name) {
    if (name.name.empty()) return nullptr;
    const std::string& root = view.settings(model::SettingsPart::kIndexes)->root_namespace;
    if (name.ns != view.client_namespace() && name.ns != root) return nullptr;
    const auto kind = name.wasm_plugin ? config::Kind::kWasmPlugin : config::Kind::kTrafficExtension;
    const mesh::NamespacePoliciesPtr part = view.PoliciesIn(kind, Interned(name.ns));
    if (part == nullptr) return nullptr;
    const auto found =
        std::find_if(part->policies.begin(), part->policies.end(),
                     [&](const mesh::Policy& policy) { return policy.object->name().str() == name.name; });
    return found == part->policies.end() ? nullptr : found->object;
  }

  cache::ByteCache<std::shared_ptr<const TypedExtensionConfig>> added_;
  cache::ByteCache<ExtensionInputs> plugins_;
  patch::PatchPool patches_{patch::Stage::kExtensions};
};

}  // namespace
}  // namespace extension

std::unique_ptr<Generator> NewExtensionGenerator() {
  return std::make_unique<extension::ExtensionGenerator>();
}

}  // namespace fairlead::gen
