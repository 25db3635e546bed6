#include "gen/secret/key_pair.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <vector>

#include "base/strings.h"

namespace fairlead::gen::secret {
namespace {

std::string_view Value(const Data& data, const char* key) {
  const auto it = data.find(key);
  return it == data.end() ? std::string_view() : std::string_view(it->second);
}

// The keys that are there, as Istio names them: three at most.
std::string Keys(const Data& data) {
  std::vector<std::string_view> keys;
  keys.reserve(data.size());
  for (const auto& [key, value] : data) keys.push_back(key);
  if (keys.size() <= 3) return Join(keys, ", ");
  const size_t more = keys.size() - 3;
  keys.resize(3);
  return StrCat(Join(keys, ", "), ", and ", more, " more...");
}

}  // namespace

absl::StatusOr<KeyPair> FindKeyPair(const Data& data) {
  if (!Value(data, "cert").empty() && !Value(data, "key").empty())
    return KeyPair{Value(data, "cert"), Value(data, "key"), ""};
  if (!Value(data, "tls.crt").empty() && !Value(data, "tls.key").empty())
    return KeyPair{Value(data, "tls.crt"), Value(data, "tls.key"), Value(data, "tls.ocsp-staple")};
  for (const auto& [certificate, key] : {std::pair("cert", "key"), std::pair("tls.crt", "tls.key")}) {
    if (data.contains(certificate) && data.contains(key))
      return absl::NotFoundError(StrCat("keys \"", certificate, "\" and \"", key, "\" are empty"));
  }
  return absl::NotFoundError(
      StrCat("expected keys (cert and key) or (tls.crt and tls.key); found: ", Keys(data)));
}

absl::StatusOr<Roots> FindRoots(const Data& data) {
  if (!Value(data, "cacert").empty()) return Roots{Value(data, "cacert"), Value(data, "crl")};
  if (!Value(data, "ca.crt").empty()) return Roots{Value(data, "ca.crt"), Value(data, "ca.crl")};
  for (const char* key : {"cacert", "ca.crt"}) {
    if (data.contains(key)) return absl::NotFoundError(StrCat("key \"", key, "\" is empty"));
  }
  return absl::NotFoundError(StrCat("expected keys cacert or ca.crt; found: ", Keys(data)));
}

absl::Status CheckCertificate(std::string_view pem, int64_t now) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr), X509_free);
  ERR_clear_error();
  if (certificate == nullptr) return absl::InvalidArgumentError("not a certificate in PEM");
  time_t at = now;
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &at) < 0)
    return absl::InvalidArgumentError("the certificate has expired");
  if (X509_cmp_time(X509_get0_notBefore(certificate.get()), &at) > 0)
    return absl::InvalidArgumentError("the certificate is not yet valid");
  return absl::OkStatus();
}

}  // namespace fairlead::gen::secret
