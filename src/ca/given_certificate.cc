#include "ca/given_certificate.h"

#include "base/strings.h"

namespace fairlead::ca {
namespace {

constexpr int64_t kClockSkew = 300;  // seconds that a signer's clock may be ahead

absl::Status Wrong(std::string_view what) {
  return absl::InternalError(StrCat("the signer's certificate ", what));
}

}  // namespace

absl::Status CheckGiven(const Certificates& given, const GivenCertificateRules& rules) {
  const CertificatePtr& leaf = given.front();
  if (!SamePublicKey(PublicKey(leaf), rules.key)) return Wrong("is for another key");
  if (!IsForUrisAlone(leaf, rules.identities)) return Wrong("is for other names");
  if (IsAuthority(leaf)) return Wrong("may sign others");
  if (NotAfter(leaf) > rules.now + rules.max_lifetime.count() + kClockSkew)
    return Wrong(StrCat("holds for more than ", rules.max_lifetime.count(), "s (MAX_WORKLOAD_CERT_TTL)"));
  Certificates between(given.begin() + 1, given.end());
  between.insert(between.end(), rules.between.begin(), rules.between.end());
  const absl::Status verified = VerifyChain(leaf, between, rules.roots, "", rules.now, /*client=*/true);
  if (verified.ok()) return verified;
  return absl::InternalError(StrCat("the signer's certificate: ", FromAbsl(verified.message())));
}

}  // namespace fairlead::ca
