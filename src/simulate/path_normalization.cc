#include "simulate/path_normalization.h"

#include <cctype>
#include <vector>

#include "base/strings.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// The character that "%XX" at a position stands for, or -1.
int EscapedAt(std::string_view text, size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') return -1;
  const int high = HexValue(text[at + 1]), low = HexValue(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

template <typename Wanted>
std::string Unescaped(std::string_view text, const Wanted& wanted) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int c = EscapedAt(text, i);
    if (c >= 0 && wanted(c)) {
      out.push_back(static_cast<char>(c));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

bool IsUnreserved(int c) {
  return c < 128 && (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~');
}

bool IsSlash(int c) { return c == '/' || c == '\\'; }

std::string WithoutDotSegments(std::string_view path) {
  std::vector<std::string_view> kept;
  const std::vector<std::string_view> segments = Split(path.substr(1), '/');
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool dots = segments[i] == "." || segments[i] == "..";
    if (segments[i] == ".." && !kept.empty()) kept.pop_back();
    if (!dots) kept.push_back(segments[i]);
    if (dots && i + 1 == segments.size()) kept.emplace_back();  // "/a/.." is "/", "/a/b/." is "/a/b/"
  }
  return StrCat("/", Join(kept, "/"));
}

}  // namespace

std::string NormalizedPath(std::string_view path) {
  const std::string_view bare = PathOnly(path);
  if (!bare.starts_with('/')) return std::string(path);
  const std::string decoded = ReplaceAll(Unescaped(bare, IsUnreserved), "\\", "/");
  return StrCat(WithoutDotSegments(decoded), path.substr(bare.size()));
}

std::string WithSlashesMerged(std::string_view path) {
  const std::string_view bare = PathOnly(path);
  std::string out;
  for (char c : bare) {
    if (c != '/' || !out.ends_with('/')) out.push_back(c);
  }
  return StrCat(out, path.substr(bare.size()));
}

bool HasEscapedSlashes(std::string_view path) {
  const std::string_view bare = PathOnly(path);
  for (size_t i = 0; i < bare.size(); ++i) {
    if (IsSlash(EscapedAt(bare, i))) return true;
  }
  return false;
}

std::string WithSlashesUnescaped(std::string_view path) {
  const std::string_view bare = PathOnly(path);
  return StrCat(Unescaped(bare, IsSlash), path.substr(bare.size()));
}

}  // namespace fairlead::simulate
