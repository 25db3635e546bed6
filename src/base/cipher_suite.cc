#include "base/cipher_suite.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace fairlead {
namespace {

// `bssl ciphers -openssl-name ALL` without pre-shared keys.
constexpr std::string_view kCipherSuites[] = {
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-RSA-AES128-SHA",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA",
    "AES256-SHA",
    "DES-CBC3-SHA",
};

}  // namespace

bool IsCipherSuite(std::string_view name) {
  if (name.empty() || name == "ALL" || !isalnum(static_cast<unsigned char>(name[0]))) return true;
  return std::find(std::begin(kCipherSuites), std::end(kCipherSuites), name) != std::end(kCipherSuites);
}

}  // namespace fairlead
