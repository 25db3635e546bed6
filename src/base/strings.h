#ifndef FAIRLEAD_BASE_STRINGS_H_
#define FAIRLEAD_BASE_STRINGS_H_

#include <charconv>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

// Debian's abseil has a string_view of its own, which std::string_view does not convert to: these few
// functions and aliases take std::string_view, so that our code needs one kind only.
namespace fairlead {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view FromAbsl(absl::string_view text) { return {text.data(), text.size()}; }

namespace internal {
inline void Append(std::string& out, std::string_view piece) { out.append(piece); }
inline void Append(std::string& out, char piece) { out.push_back(piece); }
template <std::integral T>
  requires(!std::same_as<T, char> && !std::same_as<T, bool>)
void Append(std::string& out, T number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
}  // namespace internal

// Text and integers joined: StrCat("outbound|", 80, "||", host).
template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::Append(out, pieces), ...);
  return out;
}
template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  (internal::Append(*out, pieces), ...);
}

// The pieces between separators, empty ones kept: Split("a//b", '/') is {"a", "", "b"}; Split("", '/') is
// {""}.
std::vector<std::string_view> Split(std::string_view text, char separator);
// Without spaces, tabs and line ends on either side.
std::string_view Trim(std::string_view text);
std::string AsciiLower(std::string_view text);
std::string AsciiUpper(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);
template <typename Range>
std::string Join(const Range& parts, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out.append(separator);
    first = false;
    out.append(std::string_view(part));
  }
  return out;
}

// Hash and equality that look up std::string keys by std::string_view without a copy.
struct StringViewHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return absl::HashOf(ToAbsl(text)); }
};
struct StringViewEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};
template <typename Value>
using StringMap = absl::flat_hash_map<std::string, Value, StringViewHash, StringViewEqual>;
using StringSet = absl::flat_hash_set<std::string, StringViewHash, StringViewEqual>;

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_STRINGS_H_
