#include "ca/certificate.h"

#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "base/strings.h"
#include "ca/openssl.h"

namespace fairlead::ca {
namespace {

constexpr size_t kMostPem = 1 << 20;
constexpr int kDeepestChain = 8;

int64_t Seconds(const ASN1_TIME* time) {
  tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

// Whether the queue says that the text ended, which is no error.
bool AtEnd() {
  const unsigned long code = ERR_peek_last_error();
  const bool end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return end;
}

std::vector<std::string> NamesOf(const CertificatePtr& certificate, int kind) {
  std::vector<std::string> names;
  const Owned<GENERAL_NAMES, GENERAL_NAMES_free> all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (all == nullptr) return names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type != kind) continue;
    const ASN1_IA5STRING* text = kind == GEN_URI ? name->d.uniformResourceIdentifier : name->d.dNSName;
    std::string value(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<size_t>(ASN1_STRING_length(text)));
    // A zero byte is how one name is made to look like another.
    if (value.find('\0') == std::string::npos) names.push_back(std::move(value));
  }
  return names;
}

struct FreeStack {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};

absl::Status AddRevocations(std::string_view crl, X509_STORE* store) {
  if (crl.empty()) return absl::OkStatus();
  const OwnedBio in = Reading(crl);
  int count = 0;
  for (;; ++count) {
    const Owned<X509_CRL, X509_CRL_free> one(PEM_read_bio_X509_CRL(in.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    X509_STORE_add_crl(store, one.get());
  }
  if (!AtEnd() || count == 0) return absl::InvalidArgumentError("the revocation list cannot be read");
  // An authority without a list of its own is not taken for one that revoked everything: see Verify.
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return absl::OkStatus();
}

int PassMissingLists(int ok, X509_STORE_CTX* context) {
  if (ok == 0 && X509_STORE_CTX_get_error(context) == X509_V_ERR_UNABLE_TO_GET_CRL) {
    X509_STORE_CTX_set_error(context, X509_V_OK);
    return 1;
  }
  return ok;
}

}  // namespace

absl::StatusOr<Certificates> ReadCertificates(std::string_view pem) {
  if (pem.size() > kMostPem) return absl::InvalidArgumentError("too large for certificates");
  Certificates all;
  const OwnedBio in = Reading(pem);
  while (X509* one = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)) all.emplace_back(one, X509_free);
  if (!AtEnd()) return absl::InvalidArgumentError("a certificate cannot be read");
  if (all.empty()) return absl::InvalidArgumentError("there is no certificate");
  return all;
}

absl::StatusOr<CertificatePtr> ReadCertificateDer(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = at + der.size();
  OwnedCertificate read(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (read == nullptr || at != end)
    return absl::InvalidArgumentError(StrCat("the certificate cannot be read: ", Reason()));
  return CertificatePtr(read.release(), X509_free);
}

std::string CertificatePem(const CertificatePtr& certificate) {
  const OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate.get());
  return Written(out.get());
}

std::string CertificatePems(const Certificates& certificates) {
  std::string text;
  for (const CertificatePtr& one : certificates) text += CertificatePem(one);
  return text;
}

int64_t NotBefore(const CertificatePtr& certificate) {
  return Seconds(X509_get0_notBefore(certificate.get()));
}
int64_t NotAfter(const CertificatePtr& certificate) { return Seconds(X509_get0_notAfter(certificate.get())); }
bool IsAuthority(const CertificatePtr& certificate) { return X509_check_ca(certificate.get()) == 1; }

bool SameCertificate(const CertificatePtr& a, const CertificatePtr& b) {
  return X509_cmp(a.get(), b.get()) == 0;
}

std::vector<std::string> UriNames(const CertificatePtr& certificate) { return NamesOf(certificate, GEN_URI); }
std::vector<std::string> DnsNames(const CertificatePtr& certificate) { return NamesOf(certificate, GEN_DNS); }

bool IsForUrisAlone(const CertificatePtr& certificate, std::vector<std::string> uris) {
  std::vector<std::string> names = UriNames(certificate);
  std::sort(names.begin(), names.end());
  std::sort(uris.begin(), uris.end());
  const Owned<GENERAL_NAMES, GENERAL_NAMES_free> all(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (all == nullptr || names != uris || static_cast<size_t>(sk_GENERAL_NAME_num(all.get())) != names.size())
    return false;
  char text[256] = "";
  const int size =
      X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, text, sizeof text);
  return size < 0 ||
         std::binary_search(uris.begin(), uris.end(), std::string(text, static_cast<size_t>(size)));
}

KeyPtr PublicKey(const CertificatePtr& certificate) {
  return {X509_get_pubkey(certificate.get()), EVP_PKEY_free};
}

absl::Status CheckRevocations(std::string_view pem) {
  if (Trim(pem).empty()) return absl::InvalidArgumentError("there is no revocation list");
  const Owned<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  return AddRevocations(pem, store.get());
}

absl::Status VerifyChain(const CertificatePtr& leaf, const Certificates& between, const Certificates& roots,
                         std::string_view crl, int64_t now, bool client) {
  const Owned<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  for (const CertificatePtr& root : roots) X509_STORE_add_cert(store.get(), root.get());
  if (absl::Status status = AddRevocations(crl, store.get()); !status.ok()) return status;
  const std::unique_ptr<STACK_OF(X509), FreeStack> untrusted(sk_X509_new_null());
  for (const CertificatePtr& one : between) sk_X509_push(untrusted.get(), one.get());
  const Owned<X509_STORE_CTX, X509_STORE_CTX_free> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), untrusted.get());
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, now);
  X509_VERIFY_PARAM_set_depth(parameters, kDeepestChain);
  X509_STORE_CTX_set_verify_cb(context.get(), PassMissingLists);
  if (client) X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  const bool ok = X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (ok) return absl::OkStatus();
  return absl::UnauthenticatedError(X509_verify_cert_error_string(error));
}

}  // namespace fairlead::ca
