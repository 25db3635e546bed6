#include "gen/extension/pull_secret.h"

#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::gen::extension {
namespace {

constexpr std::string_view kType = "kubernetes.io/dockerconfigjson";
constexpr char kKey[] = ".dockerconfigjson";

}  // namespace

std::optional<std::string> PullSecretName(const PluginSpec& plugin) {
  std::string_view credential =
      plugin.WithWasm([](const auto& spec) { return std::string_view(spec.image_pull_secret()); });
  if (credential.empty() || credential.starts_with("builtin://") || credential.starts_with("invalid://"))
    return std::nullopt;
  // Whatever namespace it names, the plugin's own is meant.
  if (const size_t scheme = credential.find("://"); scheme != std::string_view::npos)
    credential.remove_prefix(scheme + 3);
  return std::string(credential.substr(credential.rfind('/') + 1));
}

absl::StatusOr<std::string> PullCredentials(const config::ConfigObject& secret) {
  const auto& spec = secret.Spec<config::SecretSpec>();
  if (spec.type != kType)
    return absl::InvalidArgumentError(StrCat("it is of type ", spec.type, ", not ", kType));
  const auto found = spec.data.find(kKey);
  if (found == spec.data.end()) return absl::InvalidArgumentError(StrCat("it has no key ", kKey));
  return found->second;
}

}  // namespace fairlead::gen::extension
