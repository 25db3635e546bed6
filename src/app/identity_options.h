#ifndef FAIRLEAD_APP_IDENTITY_OPTIONS_H_
#define FAIRLEAD_APP_IDENTITY_OPTIONS_H_

#include <span>
#include <string>
#include <string_view>

namespace fairlead::app {

// Of EXTERNAL_CA: certificates are signed by signers of the cluster.
inline constexpr char kClusterSigner[] = "ISTIOD_RA_KUBERNETES_API";

// What the environment says of the cluster's part in identities and webhooks.
struct IdentityOptions {
  // Whether the caBundle of webhooks of the revision is kept up to date; "": not.
  std::string injection_configuration = "istio-sidecar-injector";
  std::string validation_configuration = "istio-istio-system";
  std::string review_audiences = "istio-ca";  // with commas
  std::string external_ca, signer, signer_domain;
};

// A variable with the member that it sets. An empty text is a value.
struct IdentityVariable {
  std::string_view name, fallback, meaning;
  std::string IdentityOptions::*member;
};
std::span<const IdentityVariable> IdentityVariables();

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_IDENTITY_OPTIONS_H_
