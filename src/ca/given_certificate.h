#ifndef FAIRLEAD_CA_GIVEN_CERTIFICATE_H_
#define FAIRLEAD_CA_GIVEN_CERTIFICATE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ca/certificate.h"
#include "ca/key.h"

// What comes back from a signer outside of this process.
namespace fairlead::ca {

// What was asked for, and what is believed.
struct GivenCertificateRules {
  KeyPtr key;                           // of the request
  std::vector<std::string> identities;  // the certificate must be for these alone
  Certificates between, roots;          // known ones; `between` may be empty
  std::chrono::seconds max_lifetime{0};
  int64_t now = 0;
};

// Internal, with the reason, unless the first of `given` is for the request's key and names alone, signs
// nothing, leads to a root, by way of the others, and holds no longer than `max_lifetime`.
absl::Status CheckGiven(const Certificates& given, const GivenCertificateRules& rules);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_GIVEN_CERTIFICATE_H_
