#ifndef FAIRLEAD_MODEL_COMPLIANCE_H_
#define FAIRLEAD_MODEL_COMPLIANCE_H_

#include <cstdint>

namespace fairlead::model {

// The standard that TLS of proxies must comply with, whatever else says (COMPLIANCE_POLICY). Source: Istio's
// CompliancePolicy.
enum class Compliance : uint8_t {
  kNone,
  kFips1402,  // FIPS 140-2: TLS 1.2, AES-GCM with forward secrecy, P-256
  kFips1403,  // FIPS 140-3: what Envoy's policy FIPS_202205 says
  kPqc,       // TLS 1.3, keys agreed upon by X25519MLKEM768
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_COMPLIANCE_H_
