#ifndef FAIRLEAD_MODEL_SPIFFE_H_
#define FAIRLEAD_MODEL_SPIFFE_H_

#include <string>
#include <string_view>

namespace fairlead::model {

inline constexpr std::string_view kSpiffePrefix = "spiffe://";

// "spiffe://cluster.local/ns/default/sa/reviews": who a workload is in its certificate.
// Source: istio.io/latest/docs/concepts/security, SPIFFE's X509-SVID. An at sign in the trust domain becomes
// a dot, as Istio writes it.
std::string SpiffeId(std::string_view trust_domain, std::string_view ns, std::string_view service_account);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SPIFFE_H_
