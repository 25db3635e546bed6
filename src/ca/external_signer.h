#ifndef FAIRLEAD_CA_EXTERNAL_SIGNER_H_
#define FAIRLEAD_CA_EXTERNAL_SIGNER_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ca/authority.h"
#include "ca/certificate.h"
#include "ca/key.h"
#include "ca/signer.h"

namespace fairlead::ca {

struct ExternalSignerOptions {
  std::string url;         // https://…; http for signers on this machine alone
  std::string profile;     // by the signer's own names; "": its default
  std::string token_file;  // shown as a bearer token; "": none
  std::string tls_roots;   // file of what vouches for the signer; "": the system's
  std::string roots_file;  // what workloads are to trust
  std::string chain_file;  // from the signer's certificate to a root; need not exist
  std::chrono::seconds max_lifetime = std::chrono::hours(24 * 90);
  UnixClock now = UnixNow;
};

// A signer outside of this process, for which it registers: callers are proven here, and the signer is told
// whom a certificate is for. Interface: CFSSL's "sign"
// (https://github.com/cloudflare/cfssl/blob/master/doc/api/endpoint_sign.txt), a POST of
//   {"certificate_request": PEM, "hosts": ["spiffe://…"], "profile": "…", "lifetime": seconds}
// answered with {"success": true, "result": {"certificate": PEM}}, where the certificate may be followed by
// what leads to a root. "profile" and "lifetime" are absent where nothing is asked for; CFSSL's profiles know
// no lifetime of a request's. What comes back is believed only if it is for the request's key and for these
// names alone, signs nothing, leads to a root and holds no longer than `max_lifetime`. Thread-safe; files are
// read for each request.
class ExternalSigner : public Signer {
 public:
  explicit ExternalSigner(ExternalSignerOptions options) : options_(std::move(options)) {}

  // InvalidArgument where the options cannot be: no https, no roots.
  absl::Status Check() const;
  // Takes 10 s at most.
  Signed Sign(const SignRequest& request) override;

 private:
  struct Trusted {
    Certificates between, roots;
  };
  absl::StatusOr<Trusted> ReadTrusted() const;
  absl::StatusOr<std::string> Ask(const std::string& body) const;

  const ExternalSignerOptions options_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_EXTERNAL_SIGNER_H_
