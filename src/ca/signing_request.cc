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

using OwnedExtensions = std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions>;

bool HasSubject(const X509_REQ* request) {
  const X509_NAME* subject = X509_REQ_get_subject_name(request);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    // Istio's agents have an organization without a name.
    if (ASN1_STRING_length(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i))) > 0) return true;
  }
  return false;
}

void ReadNames(X509_REQ* request, SigningRequest* out) {
  out->more_than_uris = HasSubject(request);
  const OwnedExtensions extensions(X509_REQ_get_extensions(request));
  for (int i = 0; extensions != nullptr && i < sk_X509_EXTENSION_num(extensions.get()); ++i) {
    X509_EXTENSION* one = sk_X509_EXTENSION_value(extensions.get(), i);
    const bool names = OBJ_obj2nid(X509_EXTENSION_get_object(one)) == NID_subject_alt_name;
    const Owned<GENERAL_NAMES, GENERAL_NAMES_free> all(
        names ? static_cast<GENERAL_NAMES*>(X509V3_EXT_d2i(one)) : nullptr);
    if (all == nullptr) out->more_than_uris = true;
    for (int j = 0; all != nullptr && j < sk_GENERAL_NAME_num(all.get()); ++j) {
      const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), j);
      if (name->type != GEN_URI) {
        out->more_than_uris = true;
        continue;
      }
      const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
      out->uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                             static_cast<size_t>(ASN1_STRING_length(uri)));
    }
  }
  ERR_clear_error();
}

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
  ReadNames(request.get(), &out);
  return out;
}

absl::StatusOr<std::string> MakeSigningRequest(const KeyPtr& key, const std::string& identity) {
  const OwnedRequest request(X509_REQ_new());
  const OwnedExtensions extensions(sk_X509_EXTENSION_new_null());
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
