#include "base/excerpt.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/strings.h"
#include "base/utf8.h"

namespace fairlead {
namespace {

constexpr size_t kLongestCharacter = 4;

// The code of the character at the beginning of valid UTF-8, and how many bytes it has.
struct Character {
  uint32_t code;
  size_t size;
};

Character First(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  const size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  uint32_t code = size == 1 ? byte : byte & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return {code, size};
}

// Controls (C0, DEL, C1), separators of lines and paragraphs, marks, embeddings, overrides and isolates of
// direction. Source: Unicode, chapter 23.2, and Annex 9
bool IsUnsafe(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x200E && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string Escape(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

std::string Excerpt(std::string_view text, size_t most) {
  std::string cut = CleanUtf8(text.substr(0, most + kLongestCharacter), most);
  if (text.size() > most) StrAppend(&cut, "… (", text.size(), " bytes)");
  return cut;
}

std::string OnOneLine(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  const std::string clean = CleanUtf8(text, text.size());
  std::string out;
  for (std::string_view rest = clean; !rest.empty();) {
    const Character first = First(rest);
    IsUnsafe(first.code) ? out.append(Escape(first.code)) : out.append(rest.substr(0, first.size));
    rest.remove_prefix(first.size);
  }
  return out;
}

}  // namespace fairlead
