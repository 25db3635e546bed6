#include "ca/caller.h"

#include <algorithm>

#include "base/strings.h"
#include "model/peer_identity.h"

namespace fairlead::ca {
namespace {

class CertificateAuthenticator : public Authenticator {
 public:
  explicit CertificateAuthenticator(TrustDomains trust_domains) : trust_domains_(std::move(trust_domains)) {}
  std::string_view name() const override { return "client certificate"; }
  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const override {
    if (!credentials.verified_certificate) return std::nullopt;
    Caller caller;
    caller.identities = OwnIdentities(credentials.certificate_uris, trust_domains_());
    if (caller.identities.empty())
      return absl::UnauthenticatedError("the certificate has no identity of this mesh's trust domain");
    return caller;
  }

 private:
  const TrustDomains trust_domains_;
};

}  // namespace

std::string AddressWithoutPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos || address.starts_with("unix:") ? address : address.substr(0, colon);
}

std::vector<std::string> OwnIdentities(const std::vector<std::string>& uris,
                                       const std::vector<std::string>& trust_domains) {
  std::vector<std::string> own;
  for (const std::string& uri : uris) {
    const auto identity = model::ParseSpiffeId(uri);
    if (identity &&
        std::find(trust_domains.begin(), trust_domains.end(), identity->trust_domain) != trust_domains.end())
      own.push_back(uri);
  }
  return own;
}

absl::StatusOr<Caller> Authenticators::Authenticate(const Credentials& credentials) const {
  return *Try(credentials, /*may_wait=*/true);
}

std::optional<absl::StatusOr<Caller>> Authenticators::AuthenticateAtOnce(
    const Credentials& credentials) const {
  return Try(credentials, /*may_wait=*/false);
}

std::optional<absl::StatusOr<Caller>> Authenticators::Try(const Credentials& credentials,
                                                          bool may_wait) const {
  std::string reasons;
  for (const auto& one : all_) {
    if (!may_wait && one->MayWait(credentials)) return std::nullopt;
    auto caller = one->Authenticate(credentials);
    if (caller.ok() && *caller) return absl::StatusOr<Caller>(**std::move(caller));
    StrAppend(&reasons, reasons.empty() ? "" : "; ", one->name(), ": ",
              caller.ok() ? "none" : FromAbsl(caller.status().message()));
  }
  return absl::UnauthenticatedError(reasons.empty() ? "no way to authenticate is set up" : reasons);
}

std::unique_ptr<Authenticator> NewCertificateAuthenticator(TrustDomains trust_domains) {
  return std::make_unique<CertificateAuthenticator>(std::move(trust_domains));
}

}  // namespace fairlead::ca
