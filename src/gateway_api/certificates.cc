#include "gateway_api/certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::gateway_api {
namespace {

using Data = std::map<std::string, std::string>;
using Text = std::optional<std::string>;

// Keys of Istio's own form, and of Kubernetes'.
constexpr std::string_view kCertificateKeys[][2] = {{"cert", "key"}, {"tls.crt", "tls.key"}};
constexpr std::string_view kRootKeys[] = {"cacert", "ca.crt"};

std::string_view ValueOf(const Data& data, std::string_view key) {
  const auto found = data.find(std::string(key));
  return found == data.end() ? "" : std::string_view(found->second);
}
bool Has(const Data& data, std::string_view key) { return data.contains(std::string(key)); }

// The first three names, as Istio shows them.
std::string NamesIn(const Data& data) {
  std::string names;
  size_t shown = 0;
  for (const auto& [name, value] : data) {
    if (shown == 3) return StrCat(names, ", and ", data.size() - shown, " more...");
    StrAppend(&names, shown++ == 0 ? "" : ", ", name);
  }
  return names;
}

struct Block {
  std::string type;
  std::vector<unsigned char> bytes;
};

std::vector<Block> PemBlocks(std::string_view text) {
  std::vector<Block> blocks;
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  char *name = nullptr, *header = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  while (bio != nullptr && PEM_read_bio(bio.get(), &name, &header, &bytes, &size) == 1) {
    blocks.push_back({name, {bytes, bytes + size}});
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
  }
  return blocks;
}

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Certificate ParseCertificate(const Block& block) {
  const unsigned char* at = block.bytes.data();
  return {d2i_X509(nullptr, &at, static_cast<long>(block.bytes.size())), X509_free};
}

Key ParseKey(const Block& block) {
  const unsigned char* at = block.bytes.data();
  return {d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(block.bytes.size())), EVP_PKEY_free};
}

bool IsKeyType(std::string_view type) { return type == "PRIVATE KEY" || type.ends_with(" PRIVATE KEY"); }

std::string TypesOf(const std::vector<Block>& blocks) {
  std::string types;
  for (const Block& block : blocks) StrAppend(&types, types.empty() ? "" : " ", block.type);
  return types;
}

std::string NoCertificate(const std::vector<Block>& blocks) {
  if (blocks.empty()) return "tls: failed to find any PEM data in certificate input";
  if (blocks.size() == 1 && IsKeyType(blocks.front().type)) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM "
           "inputs may have been switched";
  }
  return StrCat(
      "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the "
      "following types: [",
      TypesOf(blocks), "]");
}

std::string NoKey(const std::vector<Block>& blocks) {
  if (blocks.empty()) return "tls: failed to find any PEM data in key input";
  if (blocks.size() == 1 && blocks.front().type == "CERTIFICATE")
    return "tls: found a certificate rather than a key in the PEM for the private key";
  return StrCat(
      "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM "
      "blocks of the following types: [",
      TypesOf(blocks), "]");
}

const Block* FirstCertificate(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (block.type == "CERTIFICATE") return &block;
  }
  return nullptr;
}

const Block* FirstKey(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    if (IsKeyType(block.type)) return &block;
  }
  return nullptr;
}

Text Mismatch(X509* certificate, EVP_PKEY* key) {
  EVP_PKEY* public_key = X509_get0_pubkey(certificate);
  if (public_key == nullptr) return "tls: unknown public key algorithm";
  if (EVP_PKEY_base_id(public_key) != EVP_PKEY_base_id(key))
    return "tls: private key type does not match public key type";
  if (X509_check_private_key(certificate, key) != 1) return "tls: private key does not match public key";
  return std::nullopt;
}

Text CheckPair(std::string_view certificate_text, std::string_view key_text) {
  const std::vector<Block> certificates = PemBlocks(certificate_text);
  const Block* first = FirstCertificate(certificates);
  if (first == nullptr) return NoCertificate(certificates);
  const std::vector<Block> keys = PemBlocks(key_text);
  const Block* first_key = FirstKey(keys);
  if (first_key == nullptr) return NoKey(keys);
  const Certificate certificate = ParseCertificate(*first);
  if (certificate == nullptr) return "x509: malformed certificate";
  const Key key = ParseKey(*first_key);
  if (key == nullptr) return "tls: failed to parse private key";
  return Mismatch(certificate.get(), key.get());
}

std::string_view RootIn(const Data& data) {
  for (std::string_view key : kRootKeys) {
    if (!ValueOf(data, key).empty()) return ValueOf(data, key);
  }
  return "";
}

}  // namespace

Text MissingKeyPair(const Data& data) {
  for (const auto& [cert, key] : kCertificateKeys) {
    if (!ValueOf(data, cert).empty() && !ValueOf(data, key).empty()) return std::nullopt;
  }
  for (const auto& [cert, key] : kCertificateKeys) {
    if (Has(data, cert) && Has(data, key))
      return StrCat("found keys \"", cert, "\" and \"", key, "\", but they were empty");
  }
  return StrCat(
      "found secret, but didn't have expected keys (cert and key) or (tls.crt and tls.key); found: ",
      NamesIn(data));
}

Text BrokenKeyPair(const Data& data) {
  for (const auto& [cert, key] : kCertificateKeys) {
    if (!ValueOf(data, cert).empty() && !ValueOf(data, key).empty())
      return CheckPair(ValueOf(data, cert), ValueOf(data, key));
  }
  return std::nullopt;
}

Text MissingRoot(const Data& data) {
  if (!RootIn(data).empty()) return std::nullopt;
  for (std::string_view key : kRootKeys) {
    if (Has(data, key)) return StrCat("found key \"", key, "\", but it was empty");
  }
  return StrCat("found secret, but didn't have expected keys cacert or ca.crt; found: ", NamesIn(data));
}

bool HasCertificate(const Data& data) {
  for (const Block& block : PemBlocks(RootIn(data))) {
    if (block.type == "CERTIFICATE" && ParseCertificate(block) != nullptr) return true;
  }
  return false;
}

bool IsReadSecret(const config::ConfigObject& secret) {
  const std::string& type = secret.Spec<config::SecretSpec>().type;
  return type != "helm.sh/release.v1" && type != "kubernetes.io/service-account-token";
}

}  // namespace fairlead::gateway_api
