#include "envoy/config/core/v3/extension.pb.h"
#include "gen/patch/apply.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {

using envoy::config::core::v3::TypedExtensionConfig;
using istio::networking::v1alpha3::EnvoyFilter;

const TypedExtensionConfig* AddedExtension(const PatchSet& patches, std::string_view name) {
  for (const Patch* patch : patches.Of(EnvoyFilter::EXTENSION_CONFIG)) {
    if (!patch->Adds()) continue;
    const auto& config = patch->Value<TypedExtensionConfig>();
    if (config.name() == name) return &config;
  }
  return nullptr;
}

}  // namespace fairlead::gen::patch
