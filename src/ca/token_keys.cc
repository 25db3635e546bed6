#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/certificate.h"
#include "ca/openssl.h"
#include "ca/token.h"

namespace fairlead::ca {
namespace {

using nlohmann::json;
using OwnedBuilder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using OwnedNumber = Owned<BIGNUM, BN_free>;

constexpr size_t kMostText = 1 << 20, kMostKeys = 256, kMostNumber = 1024;

// A member in base64url; nothing where it is not there, no such text, or longer than any key's number.
std::optional<std::string> Bytes(const json& key, const char* member) {
  const std::string text = JsonString(key, member);
  if (text.empty() || text.size() > 2 * kMostNumber) return std::nullopt;
  return DecodeBase64(text);
}

OwnedNumber Number(const std::string& bytes) {
  return OwnedNumber(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                               static_cast<int>(bytes.size()), nullptr));
}

KeyPtr FromParameters(const char* type, OSSL_PARAM_BLD* builder) {
  const Owned<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  return {key, EVP_PKEY_free};
}

KeyPtr RsaKey(const json& key) {
  const auto n = Bytes(key, "n"), e = Bytes(key, "e");
  if (!n || !e) return nullptr;
  const OwnedNumber modulus = Number(*n), exponent = Number(*e);
  const OwnedBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return FromParameters("RSA", builder.get());
}

KeyPtr EllipticKey(const json& key) {
  const std::string curve = JsonString(key, "crv");
  const auto x = Bytes(key, "x"), y = Bytes(key, "y");
  const size_t size = curve == "P-256" ? 32 : curve == "P-384" ? 48 : curve == "P-521" ? 66 : 0;
  if (size == 0 || !x || !y || x->size() != size || y->size() != size) return nullptr;
  const std::string point = StrCat("\x04", *x, *y);
  const OwnedBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.c_str(), 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  return FromParameters("EC", builder.get());
}

KeyPtr EdwardsKey(const json& key) {
  const auto x = Bytes(key, "x");
  if (JsonString(key, "crv") != "Ed25519" || !x || x->size() != 32) return nullptr;
  return {EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                      reinterpret_cast<const unsigned char*>(x->data()), x->size()),
          EVP_PKEY_free};
}

// Too weak a key vouches for nothing.
bool IsStrong(const KeyPtr& key) {
  return EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519 || CheckPublicKey(key).ok();
}

TokenKeys FromSet(const json& set) {
  TokenKeys keys;
  const auto list = set.find("keys");
  if (list == set.end() || !list->is_array()) return keys;
  for (const json& one : *list) {
    if (!one.is_object() || keys.size() == kMostKeys) continue;
    const std::string use = JsonString(one, "use"), type = JsonString(one, "kty");
    if (!use.empty() && use != "sig") continue;
    KeyPtr key = type == "RSA"   ? RsaKey(one)
                 : type == "EC"  ? EllipticKey(one)
                 : type == "OKP" ? EdwardsKey(one)
                                 : nullptr;
    if (key != nullptr && IsStrong(key))
      keys.push_back({JsonString(one, "kid"), JsonString(one, "alg"), std::move(key)});
  }
  return keys;
}

TokenKeys FromPem(std::string_view text) {
  TokenKeys keys;
  const OwnedBio in = Reading(text);
  while (EVP_PKEY* one = PEM_read_bio_PUBKEY(in.get(), nullptr, nullptr, nullptr)) {
    KeyPtr key(one, EVP_PKEY_free);
    if (keys.size() < kMostKeys && IsStrong(key)) keys.push_back({"", "", std::move(key)});
  }
  ERR_clear_error();
  if (const auto certificates = ReadCertificates(text); certificates.ok()) {
    for (const CertificatePtr& certificate : *certificates) {
      KeyPtr key = PublicKey(certificate);
      if (key != nullptr && keys.size() < kMostKeys && IsStrong(key))
        keys.push_back({"", "", std::move(key)});
    }
  }
  return keys;
}

}  // namespace

absl::StatusOr<TokenKeys> ReadTokenKeys(std::string_view text) {
  if (text.size() > kMostText) return absl::InvalidArgumentError("the key set is larger than 1 MiB");
  const auto set = ParseJson(text);
  TokenKeys keys = set && set->is_object() ? FromSet(*set) : FromPem(text);
  if (keys.empty()) return absl::InvalidArgumentError("there is no key that can verify tokens");
  return keys;
}

}  // namespace fairlead::ca
