#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ca/signing_request.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may be read as a certificate signing request. What is taken for one has a key that
// certificates are given for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto request = fairlead::ca::ReadSigningRequest({reinterpret_cast<const char*>(data), size});
  if (!request.ok()) return 0;
  fairlead::fuzz::Require(request->public_key != nullptr, "a request without a key");
  fairlead::fuzz::Require(fairlead::ca::CheckPublicKey(request->public_key).ok(),
                          "a key that is not accepted");
  return 0;
}
