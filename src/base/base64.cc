#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace fairlead {
namespace {

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;  // of bits that wait
  size_t letters = 0, padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;  // as Go's decoder, which Kubernetes uses
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = Base64Value(c);
    if (value < 0 || padding > 0) return std::nullopt;
    ++letters;
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xFFFFFF;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  if (letters % 4 == 1 || (padding > 0 && (letters + padding) % 4 != 0) || padding > 2) return std::nullopt;
  return bytes;
}

}  // namespace fairlead
