#ifndef FAIRLEAD_GEN_SECRET_SECRET_NAME_H_
#define FAIRLEAD_GEN_SECRET_SECRET_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// The names by which proxies ask for secrets. Source: Istio's credentials.ParseResourceName.
namespace fairlead::gen::secret {

inline constexpr std::string_view kRootSuffix = "-cacert";

enum class Scheme : uint8_t {
  kKubernetes,         // "kubernetes://name" of the client's namespace, or "kubernetes://namespace/name"
  kKubernetesGateway,  // "kubernetes-gateway://namespace/name", which a Gateway refers to
  kConfigMap,          // "configmap://namespace/name", roots alone
  kInvalid,            // "invalid://…": what is asked for on purpose so that nothing comes
};

struct SecretName {
  Scheme scheme = Scheme::kInvalid;
  std::string ns, name;  // empty for kInvalid

  // Roots alone are asked for.
  bool OfRoots() const { return scheme == Scheme::kConfigMap || name.ends_with(kRootSuffix); }
};

// `client_namespace` stands for a namespace that the name leaves out. InvalidArgument, saying why, for what
// is no name of a secret that a control plane has ("default", "file-root:…", a name without its namespace).
absl::StatusOr<SecretName> ParseSecretName(std::string_view text, std::string_view client_namespace);

// The resource name of a Gateway's credentialName: itself if it has a scheme, otherwise "kubernetes://"
// before it.
std::string ResourceNameOf(std::string_view credential_name);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_SECRET_NAME_H_
