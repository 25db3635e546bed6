#include "base/utf8.h"

#include <algorithm>

namespace fairlead {
namespace {

// How many bytes the character at the beginning of `text` has; 0 where there is none. Source: RFC 3629,
// section 4.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0, surrogate = first == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90, beyond = first == 0xF4 && second > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string CleanUtf8(std::string_view text, size_t most) {
  std::string out;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const std::string_view character = size == 0 ? "?" : text.substr(0, size);
    if (out.size() + character.size() > most) break;
    out.append(character);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

}  // namespace fairlead
