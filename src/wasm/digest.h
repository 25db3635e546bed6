#ifndef FAIRLEAD_WASM_DIGEST_H_
#define FAIRLEAD_WASM_DIGEST_H_

#include <string>
#include <string_view>

namespace fairlead::wasm {

// SHA-256 as 64 hexadecimal digits in lower case.
std::string Sha256Hex(std::string_view bytes);
// Whether a text is such digits.
bool IsSha256Hex(std::string_view text);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_DIGEST_H_
