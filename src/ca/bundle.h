#ifndef FAIRLEAD_CA_BUNDLE_H_
#define FAIRLEAD_CA_BUNDLE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ca/certificate.h"
#include "ca/key.h"

namespace fairlead::ca {

// The signing key and certificates of an authority, and the roots for workloads. Immutable.
struct Bundle {
  CertificatePtr certificate;  // that signs
  KeyPtr key;                  // its key; nowhere else in PEM than in its file
  Certificates chain;  // from `certificate` upwards, as leaves carry it; empty where it is itself a root
  Certificates roots;  // all that workloads are to trust
  std::string crl;     // PEM; "": none
  bool self_signed = false;  // made here, so that it is renewed here
};
using BundlePtr = std::shared_ptr<const Bundle>;

// The PEM texts of a bundle. Chain and list may be "".
struct BundleTexts {
  std::string certificate, key, chain, roots, crl;
  friend bool operator==(const BundleTexts&, const BundleTexts&) = default;
};

// InvalidArgument, naming the part, if a part cannot be read. Also if the key does not belong to the
// certificate, or the certificate may not sign, leads to no root or is not valid at `now` (Unix seconds).
absl::StatusOr<BundlePtr> ReadBundle(const BundleTexts& texts, int64_t now);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_BUNDLE_H_
