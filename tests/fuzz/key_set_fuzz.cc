#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "jwks/key_set_text.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: what a key server answers, as a set of keys and as a discovery document. What is taken for a
// set of keys has the same keys as itself.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto uri = fairlead::jwks::KeySetUri(text);
  Require(!uri.ok() || !uri->empty(), "a document that names no URI is believed");
  if (!fairlead::jwks::CheckKeySet(text).ok()) return 0;
  Require(fairlead::jwks::SameKeys(text, text), "a set differs from itself");
  Require(fairlead::jwks::SameKeys(text, std::string(text) + "\n"), "a line end makes other keys");
  return 0;
}
