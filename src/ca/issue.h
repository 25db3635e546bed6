#ifndef FAIRLEAD_CA_ISSUE_H_
#define FAIRLEAD_CA_ISSUE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/certificate.h"
#include "ca/key.h"

// Making certificates. Times are Unix seconds.
namespace fairlead::ca {

struct CertificateSubject {
  std::vector<std::string> names;  // subject alternative names
  bool common_name = false;        // the first of them that fits (64 bytes) is the common name, too
  int64_t not_before = 0, not_after = 0;
  bool authority = false;  // may sign others, below which there are none
};

// A certificate for a public key, signed by `signer` with `signer_key`. Serial numbers are random.
// InvalidArgument for names that cannot be, Internal where OpenSSL fails.
absl::StatusOr<CertificatePtr> Issue(const CertificatePtr& signer, const KeyPtr& signer_key,
                                     const KeyPtr& public_key, const CertificateSubject& subject);

// A root: signed by its own key, its subject is the organization.
absl::StatusOr<CertificatePtr> MakeRoot(const KeyPtr& key, const std::string& organization,
                                        int64_t not_before, int64_t not_after);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_ISSUE_H_
