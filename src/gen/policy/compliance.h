#ifndef FAIRLEAD_GEN_POLICY_COMPLIANCE_H_
#define FAIRLEAD_GEN_POLICY_COMPLIANCE_H_

#include "model/compliance.h"

namespace envoy::extensions::transport_sockets::tls::v3 {
class CommonTlsContext;
}

namespace fairlead::gen {

// Limits versions, cipher suites and curves to what the standard allows. To be called last. Pure. Source:
// Istio's EnforceCompliance.
void EnforceCompliance(model::Compliance compliance,
                       envoy::extensions::transport_sockets::tls::v3::CommonTlsContext* out);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_POLICY_COMPLIANCE_H_
