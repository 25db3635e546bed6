#include "ca/token.h"

#include <openssl/ecdsa.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/openssl.h"
#include "model/spiffe.h"

namespace fairlead::ca {
namespace {

using nlohmann::json;

constexpr size_t kMostToken = 16 << 10;
constexpr int64_t kEarly = 60;  // seconds that an issuer's clock may be ahead

enum class Scheme { kRsa, kRsaPss, kEcdsa, kEdwards };

// RFC 7518, 3.1 and RFC 8037. What is not in this table is no algorithm: "none" and the ones with shared
// secrets.
struct Algorithm {
  std::string_view name;
  Scheme scheme;
  const EVP_MD* (*digest)();
  int bits;  // of the curve
};
constexpr Algorithm kAlgorithms[] = {
    {"RS256", Scheme::kRsa, EVP_sha256, 0},     {"RS384", Scheme::kRsa, EVP_sha384, 0},
    {"RS512", Scheme::kRsa, EVP_sha512, 0},     {"PS256", Scheme::kRsaPss, EVP_sha256, 0},
    {"PS384", Scheme::kRsaPss, EVP_sha384, 0},  {"PS512", Scheme::kRsaPss, EVP_sha512, 0},
    {"ES256", Scheme::kEcdsa, EVP_sha256, 256}, {"ES384", Scheme::kEcdsa, EVP_sha384, 384},
    {"ES512", Scheme::kEcdsa, EVP_sha512, 521}, {"EdDSA", Scheme::kEdwards, nullptr, 0},
};

absl::Status Refused(std::string_view why) { return absl::UnauthenticatedError(StrCat("the token ", why)); }

// Whether a key is of the kind that the algorithm works with: a token cannot choose what a key is taken for.
bool Fits(const TokenKey& key, const Algorithm& algorithm) {
  if (!key.algorithm.empty() && key.algorithm != algorithm.name) return false;
  switch (EVP_PKEY_get_base_id(key.key.get())) {
    case EVP_PKEY_RSA:
      return algorithm.scheme == Scheme::kRsa || algorithm.scheme == Scheme::kRsaPss;
    case EVP_PKEY_EC:
      return algorithm.scheme == Scheme::kEcdsa && EVP_PKEY_get_bits(key.key.get()) == algorithm.bits;
    case EVP_PKEY_ED25519:
      return algorithm.scheme == Scheme::kEdwards;
    default:
      return false;
  }
}

// Two numbers of the curve's size, as ECDSA's own form in DER; "" where they are not.
std::string ToDer(std::string_view raw, int bits) {
  const size_t size = static_cast<size_t>(bits + 7) / 8;
  if (raw.size() != 2 * size) return "";
  const auto* bytes = reinterpret_cast<const unsigned char*>(raw.data());
  const Owned<ECDSA_SIG, ECDSA_SIG_free> signature(ECDSA_SIG_new());
  ECDSA_SIG_set0(signature.get(), BN_bin2bn(bytes, static_cast<int>(size), nullptr),
                 BN_bin2bn(bytes + size, static_cast<int>(size), nullptr));
  unsigned char* der = nullptr;
  const int length = i2d_ECDSA_SIG(signature.get(), &der);
  if (length <= 0) return "";
  std::string out(reinterpret_cast<const char*>(der), static_cast<size_t>(length));
  OPENSSL_free(der);
  return out;
}

bool Verifies(const TokenKey& key, const Algorithm& algorithm, std::string_view text,
              std::string_view signature) {
  const std::string der =
      algorithm.scheme == Scheme::kEcdsa ? ToDer(signature, algorithm.bits) : std::string(signature);
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  const EVP_MD* digest = algorithm.digest == nullptr ? nullptr : algorithm.digest();
  bool ok = !der.empty() && EVP_DigestVerifyInit(context.get(), &of_key, digest, nullptr, key.key.get()) == 1;
  if (ok && algorithm.scheme == Scheme::kRsaPss) {
    ok = EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) == 1;
  }
  ok = ok && EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(der.data()), der.size(),
                              reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  ERR_clear_error();
  return ok;
}

std::optional<json> Part(std::string_view text) {
  const auto decoded = DecodeBase64(text);
  if (!decoded) return std::nullopt;
  auto value = ParseJson(*decoded);
  return value && value->is_object() ? value : std::nullopt;
}

// Seconds, perhaps with a fraction; nothing for another value or one that no clock will show.
std::optional<int64_t> Seconds(const json& payload, const char* claim) {
  const auto it = payload.find(claim);
  if (it == payload.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>();
  if (!(value >= 0 && value < 1e12)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::string Nested(const json& object, const char* member, const char* name) {
  const auto it = object.find(member);
  return it == object.end() || !it->is_object() ? std::string() : JsonString(*it, name);
}

absl::StatusOr<TokenClaims> ReadClaims(const json& payload, int64_t now) {
  TokenClaims claims;
  const auto expires = Seconds(payload, "exp");
  if (!expires) return Refused("does not say when it expires");
  if (now >= *expires) return Refused("has expired");
  claims.expires = *expires;
  if (payload.contains("nbf")) {
    const auto begins = Seconds(payload, "nbf");
    if (!begins || *begins > now + kEarly) return Refused("is not valid yet");
  }
  claims.issuer = JsonString(payload, "iss");
  claims.subject = JsonString(payload, "sub");
  const auto audience = payload.find("aud");
  if (audience != payload.end() && audience->is_string()) claims.audiences = {audience->get<std::string>()};
  if (audience != payload.end() && audience->is_array()) {
    for (const json& one : *audience) {
      if (one.is_string()) claims.audiences.push_back(one.get<std::string>());
    }
  }
  const auto kubernetes = payload.find("kubernetes.io");
  if (kubernetes != payload.end() && kubernetes->is_object()) {
    claims.ns = JsonString(*kubernetes, "namespace");
    claims.service_account = Nested(*kubernetes, "serviceaccount", "name");
    claims.pod = Nested(*kubernetes, "pod", "name");
    claims.pod_uid = Nested(*kubernetes, "pod", "uid");
    claims.node = Nested(*kubernetes, "node", "name");
  }
  return claims;
}

class TokenAuthenticator : public Authenticator {
 public:
  TokenAuthenticator(TokenOptions options, TrustDomains trust_domains)
      : options_(std::move(options)), trust_domains_(std::move(trust_domains)) {}
  std::string_view name() const override { return "token"; }

  absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const override {
    constexpr std::string_view kBearer = "bearer ";
    const std::string_view header = credentials.authorization;
    if (header.size() <= kBearer.size() || !EqualsIgnoreCase(header.substr(0, kBearer.size()), kBearer))
      return std::nullopt;
    const std::string_view token = Trim(header.substr(kBearer.size()));
    auto claims = Verify(token, /*unknown=*/false);
    // An issuer may have a new key.
    if (!claims.ok()) claims = Verify(token, /*unknown=*/true);
    if (!claims.ok()) return claims.status();
    return CallerOf(*claims);
  }

 private:
  absl::StatusOr<TokenClaims> Verify(std::string_view token, bool unknown) const {
    const TokenKeysPtr keys = options_.keys(unknown);
    if (keys == nullptr)
      return absl::UnauthenticatedError(StrCat("keys of the issuer ", options_.issuer, " are not known"));
    return VerifyToken(token, *keys, options_.now());
  }

  absl::StatusOr<std::optional<Caller>> CallerOf(const TokenClaims& claims) const {
    if (claims.issuer != options_.issuer) return Refused("is of another issuer");
    const bool for_us =
        std::any_of(claims.audiences.begin(), claims.audiences.end(), [&](const std::string& one) {
          return std::find(options_.audiences.begin(), options_.audiences.end(), one) !=
                 options_.audiences.end();
        });
    if (!for_us) return Refused("is for another audience");
    const std::vector<std::string_view> parts = Split(claims.subject, ':');
    if (parts.size() != 4 || parts[0] != "system" || parts[1] != "serviceaccount" ||
        !IsAccountPart(parts[2]) || !IsAccountPart(parts[3]))
      return Refused("is not of a service account");
    Caller caller;
    caller.identities = {model::SpiffeId(trust_domains_().front(), parts[2], parts[3])};
    caller.ns = parts[2];
    caller.service_account = parts[3];
    if (claims.ns == caller.ns && claims.service_account == caller.service_account) {
      caller.pod = claims.pod;
      caller.pod_uid = claims.pod_uid;
      caller.node = claims.node;
    }
    return caller;
  }

  const TokenOptions options_;
  const TrustDomains trust_domains_;
};

}  // namespace

bool IsAccountPart(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

absl::StatusOr<TokenClaims> VerifyToken(std::string_view token, const TokenKeys& keys, int64_t now) {
  if (token.size() > kMostToken) return Refused("is too long");
  const std::vector<std::string_view> parts = Split(token, '.');
  if (parts.size() != 3) return Refused("is no signed token");
  const auto header = Part(parts[0]);
  const auto signature = DecodeBase64(parts[2]);
  if (!header || !signature) return Refused("cannot be read");
  // An extension that must be understood is not.
  if (header->contains("crit")) return Refused("asks for an unknown extension");
  const std::string name = JsonString(*header, "alg"), id = JsonString(*header, "kid");
  const auto* algorithm = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                       [&](const Algorithm& one) { return one.name == name; });
  if (algorithm == std::end(kAlgorithms)) return Refused("has no acceptable algorithm");
  const std::string_view signed_text = token.substr(0, parts[0].size() + 1 + parts[1].size());
  const bool verified = std::any_of(keys.begin(), keys.end(), [&](const TokenKey& key) {
    return (id.empty() || key.id.empty() || key.id == id) && Fits(key, *algorithm) &&
           Verifies(key, *algorithm, signed_text, *signature);
  });
  if (!verified) return Refused("is not signed by a key of the issuer");
  const auto payload = Part(parts[1]);
  if (!payload) return Refused("cannot be read");
  return ReadClaims(*payload, now);
}

std::unique_ptr<Authenticator> NewTokenAuthenticator(TokenOptions options, TrustDomains trust_domains) {
  return std::make_unique<TokenAuthenticator>(std::move(options), std::move(trust_domains));
}

}  // namespace fairlead::ca
