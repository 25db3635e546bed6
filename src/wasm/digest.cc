#include "wasm/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"

namespace fairlead::wasm {

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), size});
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace fairlead::wasm
