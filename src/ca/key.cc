#include "ca/key.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/strings.h"
#include "ca/openssl.h"

namespace fairlead::ca {
namespace {

constexpr int kLeastRsaBits = 2048, kMostRsaBits = 8192;
constexpr size_t kMostPem = 64 << 10;

// A key that needs a password is refused, never asked for at a terminal.
int NoPassword(char* /*out*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

}  // namespace

absl::StatusOr<KeyPtr> MakeKey(KeyType type, int rsa_bits) {
  if (type == KeyType::kRsa && (rsa_bits < kLeastRsaBits || rsa_bits > kMostRsaBits)) {
    return absl::InvalidArgumentError(
        StrCat("an RSA key of ", rsa_bits, " bits: ", kLeastRsaBits, " to ", kMostRsaBits, " are allowed"));
  }
  EVP_PKEY* made =
      type == KeyType::kRsa
          ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<size_t>(rsa_bits))
          : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", type == KeyType::kEcdsaP256 ? "P-256" : "P-384");
  if (made == nullptr) return absl::InternalError(StrCat("no key can be made: ", Reason()));
  return KeyPtr(made, EVP_PKEY_free);
}

absl::StatusOr<KeyPtr> ReadPrivateKey(std::string_view pem) {
  if (pem.size() > kMostPem) return absl::InvalidArgumentError("the private key is too large");
  EVP_PKEY* key = PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, NoPassword, nullptr);
  if (key == nullptr) {
    Reason();
    return absl::InvalidArgumentError("not a private key in PEM without a password");
  }
  return KeyPtr(key, EVP_PKEY_free);
}

std::string PrivateKeyPem(const KeyPtr& key) {
  const OwnedBio out(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Written(out.get());
}

absl::Status CheckPublicKey(const KeyPtr& key) {
  const int bits = EVP_PKEY_get_bits(key.get());
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA) {
    if (bits >= kLeastRsaBits && bits <= kMostRsaBits) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat("an RSA key of ", bits, " bits is not accepted"));
  }
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC) {
    char curve[64] = "";
    EVP_PKEY_get_group_name(key.get(), curve, sizeof curve, nullptr);
    for (std::string_view known : {"prime256v1", "secp384r1", "secp521r1", "P-256", "P-384", "P-521"}) {
      if (known == curve) return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        StrCat("a key on the curve '", std::string_view(curve), "' is not accepted"));
  }
  return absl::InvalidArgumentError("a key that is neither RSA nor ECDSA is not accepted");
}

bool SamePublicKey(const KeyPtr& a, const KeyPtr& b) { return EVP_PKEY_eq(a.get(), b.get()) == 1; }

}  // namespace fairlead::ca
