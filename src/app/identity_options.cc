#include "app/identity_options.h"

namespace fairlead::app {
namespace {

constexpr IdentityVariable kVariables[] = {
    {"INJECTION_WEBHOOK_CONFIG_NAME", "istio-sidecar-injector",
     "Whether the caBundle of injection webhooks with the label istio.io/rev of this revision is kept up to "
     "date, whatever their name; empty: not.",
     &IdentityOptions::injection_configuration},
    {"VALIDATION_WEBHOOK_CONFIG_NAME", "istio-istio-system",
     "The same of validation webhooks, and of their failurePolicy; empty: not.",
     &IdentityOptions::validation_configuration},
    {"TOKEN_AUDIENCES", "istio-ca",
     "Required audience of tokens that the cluster's API server checks; with commas, any one of them.",
     &IdentityOptions::review_audiences},
    {"EXTERNAL_CA", "",
     "ISTIOD_RA_KUBERNETES_API: workloads' certificates are signed by a signer of the cluster, by "
     "CertificateSigningRequests. Empty: here.",
     &IdentityOptions::external_ca},
    {"K8S_SIGNER", "", "With EXTERNAL_CA, the signer of requests that name none.", &IdentityOptions::signer},
    {"CERT_SIGNER_DOMAIN", "",
     "With EXTERNAL_CA, the domain of signers that requests name (ISTIO_META_CERT_SIGNER); empty: none may.",
     &IdentityOptions::signer_domain},
};

}  // namespace

std::span<const IdentityVariable> IdentityVariables() { return kVariables; }

}  // namespace fairlead::app
