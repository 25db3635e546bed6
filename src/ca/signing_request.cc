#include "ca/signing_request.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/strings.h"
#include "ca/names.h"
#include "ca/openssl.h"

namespace fairlead::ca {
namespace {

constexpr size_t kMostPem = 64 << 10;
constexpr std::string_view kBegin = "-----BEGIN ";
using OwnedRequest = Owned<X509_REQ, X509_REQ_free>;

struct FreeExtensions {
  void operator()(STACK_OF(X509_EXTENSION) * all) const {
    sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
  }
};

}  // namespace

absl::StatusOr<SigningRequest> ReadSigningRequest(std::string_view pem) {
  if (pem.size() > kMostPem) return absl::InvalidArgumentError("the request is larger than 64 KiB");
  // One alone: what follows it would be signed by nobody.
  if (const size_t begin = pem.find(kBegin);
      begin != std::string_view::npos && pem.find(kBegin, begin + 1) != std::string_view::npos)
    return absl::InvalidArgumentError("there is more than the request");
  const OwnedRequest request(PEM_read_bio_X509_REQ(Reading(pem).get(), nullptr, nullptr, nullptr));
  if (request == nullptr) {
    Reason();
    return absl::InvalidArgumentError("not a certificate signing request in PEM");
  }
  SigningRequest out;
  out.public_key = KeyPtr(X509_REQ_get_pubkey(request.get()), EVP_PKEY_free);
  if (out.public_key == nullptr)
    return absl::InvalidArgumentError(StrCat("the key cannot be read: ", Reason()));
  // Before its signature is checked: that of a gigantic key costs seconds.
  if (absl::Status status = CheckPublicKey(out.public_key); !status.ok()) return status;
  if (X509_REQ_verify(request.get(), out.public_key.get()) != 1) {
    Reason();
    return absl::InvalidArgumentError("the request is not signed by its key");
  }
  out.has_common_name =
      X509_NAME_get_index_by_NID(X509_REQ_get_subject_name(request.get()), NID_commonName, -1) >= 0;
  return out;
}

absl::StatusOr<std::string> MakeSigningRequest(const KeyPtr& key, const std::string& identity) {
  const OwnedRequest request(X509_REQ_new());
  const std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions> extensions(sk_X509_EXTENSION_new_null());
  auto names = NamesExtension({identity}, /*critical=*/true);
  if (!names.ok()) return names.status();
  sk_X509_EXTENSION_push(extensions.get(), names->release());
  if (X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_add_extensions(request.get(), extensions.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return absl::InternalError(StrCat("no request can be made: ", Reason()));
  }
  const OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_REQ(out.get(), request.get());
  return Written(out.get());
}

}  // namespace fairlead::ca
