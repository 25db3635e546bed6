#include "base/go_url.h"

#include "base/strings.h"

namespace fairlead {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Whether every "%" begins an escape.
bool EscapesAreWhole(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
    i += 2;
  }
  return true;
}

bool IsHostCharacter(char c) {
  if (IsLetter(c) || IsDigit(c) || static_cast<unsigned char>(c) >= 0x80) return true;
  return std::string_view("-_.~!$&'()*+,;=:[]<>\"%").find(c) != std::string_view::npos;
}

bool IsUserCharacter(char c) {
  return IsLetter(c) || IsDigit(c) ||
         std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
}

// What is behind the host: nothing, or ":" and digits.
bool IsOptionalPort(std::string_view text) {
  if (text.empty()) return true;
  if (text[0] != ':') return false;
  for (char c : text.substr(1)) {
    if (!IsDigit(c)) return false;
  }
  return true;
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.rfind(']');
    if (end == std::string_view::npos || !IsOptionalPort(host.substr(end + 1))) return false;
  } else if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    if (!IsOptionalPort(host.substr(colon))) return false;  // one colon at most, since Go 1.26
  }
  for (size_t i = 0; i < host.size(); ++i) {
    if (!IsHostCharacter(host[i])) return false;
    // Of the escapes only those of bytes beyond ASCII are allowed.
    if (host[i] == '%' &&
        (i + 2 >= host.size() || !IsHex(host[i + 1]) || !IsHex(host[i + 2]) || host[i + 1] < '8'))
      return false;
  }
  return true;
}

bool TakeAuthority(std::string_view authority, GoUrl* url) {
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = authority.substr(0, at);
    for (char c : user) {
      if (!IsUserCharacter(c)) return false;
    }
    if (!EscapesAreWhole(user)) return false;
    authority.remove_prefix(at + 1);
  }
  url->host = authority;
  return IsHost(authority);
}

// Cuts "scheme:" off; false where there is a colon without a scheme before it.
bool TakeScheme(std::string_view* text, GoUrl* url) {
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (IsLetter(c)) continue;
    if (IsDigit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return true;
      continue;
    }
    if (c != ':') return true;
    if (i == 0) return false;
    url->scheme = AsciiLower(text->substr(0, i));
    text->remove_prefix(i + 1);
    return true;
  }
  return true;
}

std::optional<GoUrl> Parse(std::string_view text, bool request) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return std::nullopt;
  }
  if (text.empty() && request) return std::nullopt;
  GoUrl url;
  if (text == "*") {
    url.path = text;
    return url;
  }
  if (!TakeScheme(&text, &url)) return std::nullopt;
  text = text.substr(0, text.find('?'));
  if (!text.starts_with('/')) {
    if (!url.scheme.empty()) return url;  // opaque, as "mailto:a"
    if (request) return std::nullopt;
    if (text.substr(0, text.find('/')).find(':') != std::string_view::npos) return std::nullopt;
  }
  if ((!url.scheme.empty() || (!request && !text.starts_with("///"))) && text.starts_with("//")) {
    const size_t end = text.find('/', 2);
    if (!TakeAuthority(text.substr(2, end == std::string_view::npos ? end : end - 2), &url))
      return std::nullopt;
    text = end == std::string_view::npos ? "" : text.substr(end);
  }
  if (!EscapesAreWhole(text)) return std::nullopt;
  url.path = text;
  return url;
}

}  // namespace

std::optional<GoUrl> ParseUrl(std::string_view text) {
  const size_t fragment = text.find('#');
  std::optional<GoUrl> url = Parse(text.substr(0, fragment), false);
  if (fragment != std::string_view::npos && !EscapesAreWhole(text.substr(fragment + 1))) return std::nullopt;
  return url;
}

std::optional<GoUrl> ParseRequestUri(std::string_view text) { return Parse(text, true); }

}  // namespace fairlead
