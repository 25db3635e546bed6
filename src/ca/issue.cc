#include "ca/issue.h"

#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "base/strings.h"
#include "ca/names.h"
#include "ca/openssl.h"

namespace fairlead::ca {
namespace {

constexpr size_t kLongestCommonName = 64;  // RFC 5280, upper bounds
constexpr size_t kSerialBytes = 16;

// Positive, and of more random bits than the 64 that authorities are held to.
bool SetSerial(X509* certificate) {
  unsigned char bytes[kSerialBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);
  const Owned<BIGNUM, BN_free> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetTimes(int64_t not_before, int64_t not_after, X509* certificate) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), not_before) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), not_after) != nullptr;
}

bool AddExtension(int kind, const char* value, X509* issuer, X509* certificate) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const OwnedExtension made(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1;
}

// RSA and ECDSA keys sign with SHA-256 here; P-384 and P-521 with what is as strong.
const EVP_MD* DigestFor(const KeyPtr& key) {
  const int bits = EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC ? EVP_PKEY_get_bits(key.get()) : 0;
  return bits > 384 ? EVP_sha512() : bits > 256 ? EVP_sha384() : EVP_sha256();
}

bool AddUses(bool authority, X509* signer, X509* made) {
  if (authority) {
    return AddExtension(NID_basic_constraints, "critical,CA:TRUE", signer, made) &&
           AddExtension(NID_key_usage, "critical,keyCertSign,cRLSign", signer, made);
  }
  return AddExtension(NID_basic_constraints, "critical,CA:FALSE", signer, made) &&
         AddExtension(NID_key_usage, "critical,digitalSignature,keyEncipherment", signer, made) &&
         AddExtension(NID_ext_key_usage, "serverAuth,clientAuth", signer, made);
}

// An operator's authority may be without an id of its key.
bool AddKeyIds(bool authority, X509* signer, X509* made) {
  if (authority && !AddExtension(NID_subject_key_identifier, "hash", signer, made)) return false;
  return X509_get0_subject_key_id(signer) == nullptr ||
         AddExtension(NID_authority_key_identifier, "keyid", signer, made);
}

// Whether the parts that all certificates have could be set.
bool Begin(const KeyPtr& public_key, int64_t not_before, int64_t not_after, X509* made) {
  return X509_set_version(made, X509_VERSION_3) == 1 && SetSerial(made) &&
         SetTimes(not_before, not_after, made) && X509_set_pubkey(made, public_key.get()) == 1;
}

void SetCommonName(const std::vector<std::string>& names, X509* made) {
  const auto fits = std::find_if(names.begin(), names.end(),
                                 [](const std::string& name) { return name.size() <= kLongestCommonName; });
  if (fits == names.end()) return;
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(fits->data()),
                             static_cast<int>(fits->size()), -1, 0);
}

}  // namespace

absl::StatusOr<CertificatePtr> Issue(const CertificatePtr& signer, const KeyPtr& signer_key,
                                     const KeyPtr& public_key, const CertificateSubject& subject) {
  CertificatePtr made(X509_new(), X509_free);
  if (subject.common_name) SetCommonName(subject.names, made.get());
  // The only name of a certificate without a subject has to be understood. RFC 5280, 4.1.2.6
  const bool nameless = X509_NAME_entry_count(X509_get_subject_name(made.get())) == 0;
  auto names = NamesExtension(subject.names, nameless);
  if (!names.ok()) return names.status();
  const bool ok = Begin(public_key, subject.not_before, subject.not_after, made.get()) &&
                  X509_set_issuer_name(made.get(), X509_get_subject_name(signer.get())) == 1 &&
                  AddUses(subject.authority, signer.get(), made.get()) &&
                  AddKeyIds(subject.authority, signer.get(), made.get()) &&
                  X509_add_ext(made.get(), names->get(), -1) == 1 &&
                  X509_sign(made.get(), signer_key.get(), DigestFor(signer_key)) != 0;
  if (!ok) return absl::InternalError(StrCat("no certificate can be made: ", Reason()));
  ERR_clear_error();
  return made;
}

absl::StatusOr<CertificatePtr> MakeRoot(const KeyPtr& key, const std::string& organization,
                                        int64_t not_before, int64_t not_after) {
  CertificatePtr made(X509_new(), X509_free);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "O", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(organization.data()),
                             static_cast<int>(organization.size()), -1, 0);
  const bool ok = Begin(key, not_before, not_after, made.get()) &&
                  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1 &&
                  AddUses(/*authority=*/true, made.get(), made.get()) &&
                  AddExtension(NID_subject_key_identifier, "hash", made.get(), made.get()) &&
                  X509_sign(made.get(), key.get(), DigestFor(key)) != 0;
  if (!ok) return absl::InternalError(StrCat("no root can be made: ", Reason()));
  return made;
}

}  // namespace fairlead::ca
