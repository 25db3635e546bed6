#include "gen/secret/secret_name.h"

#include <vector>

#include "base/strings.h"

namespace fairlead::gen::secret {
namespace {

constexpr std::string_view kKubernetes = "kubernetes://";
constexpr std::string_view kKubernetesGateway = "kubernetes-gateway://";
constexpr std::string_view kConfigMap = "configmap://";
constexpr std::string_view kInvalid = "invalid://";
constexpr size_t kMostShown = 100;  // of a name that a client chose, in messages

absl::StatusOr<SecretName> WithNamespace(Scheme scheme, std::string_view text, std::string_view rest) {
  const std::vector<std::string_view> parts = Split(rest, '/');
  if (parts.size() < 2 || parts[0].empty() || parts[1].empty()) {
    return absl::InvalidArgumentError(
        StrCat("'", text.substr(0, kMostShown), "': a namespace and a name are required"));
  }
  return SecretName{scheme, std::string(parts[0]), std::string(parts[1])};
}

}  // namespace

absl::StatusOr<SecretName> ParseSecretName(std::string_view text, std::string_view client_namespace) {
  if (text.starts_with(kInvalid)) return SecretName();
  if (text.starts_with(kConfigMap))
    return WithNamespace(Scheme::kConfigMap, text, text.substr(kConfigMap.size()));
  if (text.starts_with(kKubernetesGateway))
    return WithNamespace(Scheme::kKubernetesGateway, text, text.substr(kKubernetesGateway.size()));
  if (!text.starts_with(kKubernetes)) {
    return absl::InvalidArgumentError(
        StrCat("'", text.substr(0, kMostShown), "': no secret of the control plane has such a name"));
  }
  const std::vector<std::string_view> parts = Split(text.substr(kKubernetes.size()), '/');
  const bool named = parts.size() > 1;
  return SecretName{Scheme::kKubernetes, std::string(named ? parts[0] : client_namespace),
                    std::string(parts[named ? 1 : 0])};
}

std::string ResourceNameOf(std::string_view credential_name) {
  if (credential_name.starts_with(kInvalid)) return std::string(kInvalid);
  for (std::string_view scheme : {kKubernetes, kKubernetesGateway, kConfigMap}) {
    if (credential_name.starts_with(scheme)) return std::string(credential_name);
  }
  return StrCat(kKubernetes, credential_name);
}

}  // namespace fairlead::gen::secret
