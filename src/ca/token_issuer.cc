#include "ca/token_issuer.h"

#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/errno_text.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/openssl.h"
#include "ca/secret_file.h"
#include "ca/token.h"

namespace fairlead::ca {
namespace {

constexpr int kNumber = 32;  // bytes of a number of P-256

std::string PrivateFile(std::string_view folder) { return StrCat(folder, "/issuer-key.pem"); }

bool IsThere(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0;
}

std::string PublicKeyPem(const KeyPtr& key) {
  const OwnedBio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PUBKEY(out.get(), key.get());
  return Written(out.get());
}

// Of two that make a key at once one wins, and both have its key.
absl::Status KeepKey(const std::string& path) {
  const auto key = MakeKey(KeyType::kEcdsaP256);
  if (!key.ok()) return key.status();
  const std::string fresh = StrCat(path, ".", getpid());
  if (absl::Status status = WritePrivateFile(fresh, PrivateKeyPem(*key)); !status.ok()) return status;
  const int error = link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST ? 0 : errno;
  unlink(fresh.c_str());
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(StrCat("cannot write ", path, ": ", ErrnoText(error)));
}

std::string Base64Url(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  out.resize(out.find_last_not_of('=') + 1);
  return out;
}

// Two numbers of the curve's size; "" where the key cannot sign.
std::string Sign(const KeyPtr& key, std::string_view text) {
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return "";
  std::string der(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(der.data()), &size, bytes,
                     text.size()) != 1)
    return "";
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const Owned<ECDSA_SIG, ECDSA_SIG_free> signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string raw(2 * kNumber, '\0');
  auto* out = reinterpret_cast<unsigned char*>(raw.data());
  if (signature == nullptr || BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), out, kNumber) != kNumber ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), out + kNumber, kNumber) != kNumber)
    return "";
  return raw;
}

absl::Status CheckRequest(const TokenRequest& request) {
  for (const std::string* name : {&request.ns, &request.service_account}) {
    if (!IsAccountPart(*name))
      return absl::InvalidArgumentError(
          ToAbsl(StrCat("\"", *name, "\" is no name of a namespace or service account")));
  }
  if (request.issuer.empty()) return absl::InvalidArgumentError("an issuer has a name");
  if (request.audiences.empty()) return absl::InvalidArgumentError("a token is for some audience");
  if (request.lifetime.count() <= 0 || request.lifetime > kLongestToken)
    return absl::InvalidArgumentError("a token holds for a second at least and 366 days at most");
  return absl::OkStatus();
}

}  // namespace

std::string IssuerKeyFile(std::string_view folder) { return StrCat(folder, "/issuer.pem"); }

absl::StatusOr<KeyPtr> LoadIssuerKey(const std::string& folder) {
  if (absl::Status status = MakePrivateFolder(folder); !status.ok()) return status;
  const std::string path = PrivateFile(folder);
  if (!IsThere(path)) {
    if (absl::Status status = KeepKey(path); !status.ok()) return status;
  }
  if (absl::Status status = CheckPrivate(path); !status.ok()) return status;
  const auto text = ReadSecretFile(path);
  if (!text.ok()) return text.status();
  auto key = ReadPrivateKey(*text);
  if (!key.ok()) return absl::InvalidArgumentError(StrCat(path, ": ", FromAbsl(key.status().message())));
  if (EVP_PKEY_get_base_id(key->get()) != EVP_PKEY_EC || EVP_PKEY_get_bits(key->get()) != 256)
    return absl::InvalidArgumentError(StrCat(path, ": not an ECDSA key on P-256"));
  const std::string verifies = PublicKeyPem(*key), file = IssuerKeyFile(folder);
  if (const auto known = ReadSecretFile(file); !known.ok() || *known != verifies) {
    if (absl::Status status = WritePrivateFile(file, verifies); !status.ok()) return status;
  }
  return key;
}

absl::StatusOr<std::string> MakeToken(const KeyPtr& key, const TokenRequest& request, int64_t now) {
  if (absl::Status status = CheckRequest(request); !status.ok()) return status;
  const nlohmann::json header = {{"alg", "ES256"}, {"typ", "JWT"}};
  const nlohmann::json claims = {
      {"iss", request.issuer},
      {"sub", StrCat("system:serviceaccount:", request.ns, ":", request.service_account)},
      {"aud", request.audiences},
      {"iat", now},
      {"nbf", now},
      {"exp", now + request.lifetime.count()},
      {"kubernetes.io",
       {{"namespace", request.ns}, {"serviceaccount", {{"name", request.service_account}}}}}};
  const std::string text = StrCat(Base64Url(JsonText(header)), ".", Base64Url(JsonText(claims)));
  const std::string signature = Sign(key, text);
  if (signature.empty()) return absl::InternalError(StrCat("cannot sign: ", Reason()));
  return StrCat(text, ".", Base64Url(signature));
}

}  // namespace fairlead::ca
