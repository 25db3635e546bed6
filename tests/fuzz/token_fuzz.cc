#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ca/token.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may be read as a token, behind the first line, and as its issuer's keys, in it. A
// token that was not signed holds for nobody: with the keys of another set nothing verifies.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::ca::TokenKeys;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  const std::string_view set = text.substr(0, end);
  const std::string_view token = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  const auto keys = fairlead::ca::ReadTokenKeys(set);
  fairlead::fuzz::Require(!keys.ok() || !keys->empty(), "a set without keys");
  const auto claims = fairlead::ca::VerifyToken(token, keys.ok() ? *keys : TokenKeys(), 1'800'000'000);
  fairlead::fuzz::Require(!claims.ok() || claims->expires > 1'800'000'000, "an expired token holds");
  fairlead::fuzz::Require(!fairlead::ca::VerifyToken(token, {}, 1'800'000'000).ok(), "verified by no key");
  return 0;
}
