#include "ca/bundle.h"

#include "base/strings.h"

namespace fairlead::ca {
namespace {

absl::Status About(std::string_view part, const absl::Status& status) {
  return absl::InvalidArgumentError(StrCat(part, ": ", FromAbsl(status.message())));
}

}  // namespace

absl::StatusOr<BundlePtr> ReadBundle(const BundleTexts& texts, int64_t now) {
  auto bundle = std::make_shared<Bundle>();
  auto certificates = ReadCertificates(texts.certificate);
  if (!certificates.ok()) return About("the signing certificate", certificates.status());
  bundle->certificate = certificates->front();
  auto key = ReadPrivateKey(texts.key);
  if (!key.ok()) return About("the signing key", key.status());
  bundle->key = *std::move(key);
  auto roots = ReadCertificates(texts.roots);
  if (!roots.ok()) return About("the roots", roots.status());
  bundle->roots = *std::move(roots);
  if (!Trim(texts.chain).empty()) {
    auto chain = ReadCertificates(texts.chain);
    if (!chain.ok()) return About("the chain", chain.status());
    bundle->chain = *std::move(chain);
  }
  bundle->crl = texts.crl;
  if (!IsAuthority(bundle->certificate))
    return absl::InvalidArgumentError("the signing certificate may not sign others");
  if (!SamePublicKey(PublicKey(bundle->certificate), bundle->key))
    return absl::InvalidArgumentError("the signing key is not the one of the signing certificate");
  const absl::Status verified =
      VerifyChain(bundle->certificate, bundle->chain, bundle->roots, texts.crl, now);
  if (!verified.ok()) return About("the signing certificate does not lead to a root", verified);
  return bundle;
}

}  // namespace fairlead::ca
