#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ca/forwarded_certificate.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may be read as x-forwarded-client-cert. What can be read has an element, and no
// more of them than it has commas.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto all = fairlead::ca::ReadForwardedCertificates(text);
  if (!all.ok()) return 0;
  size_t commas = 0;
  for (const char c : text) commas += c == ',' ? 1 : 0;
  fairlead::fuzz::Require(!all->empty() && all->size() <= commas + 1, "elements");
  return 0;
}
