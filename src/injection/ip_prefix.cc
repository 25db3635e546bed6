#include "injection/ip_prefix.h"

#include <optional>
#include <string>

#include "base/ip_address.h"
#include "base/strings.h"
#include "injection/go_text.h"

namespace fairlead::injection {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What netip says of a text with a dot that is no IPv4 address; "" where it is one.
std::string WhyNoIpv4(std::string_view text) {
  const auto at = [&](size_t i) { return StrCat(" (at ", GoQuote(text.substr(i)), ")"); };
  int value = 0, fields = 0, digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsDigit(c)) {
      if (digits == 1 && value == 0) return "IPv4 field has octet with leading zero";
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return "IPv4 field has value >255";
    } else if (c == '.') {
      if (i == 0 || i == text.size() - 1 || text[i - 1] == '.')
        return StrCat("IPv4 field must have at least one digit", at(i));
      if (fields == 3) return "IPv4 address too long";
      ++fields;
      value = digits = 0;
    } else {
      return StrCat("unexpected character", at(i));
    }
  }
  return fields < 3 ? "IPv4 address too short" : "";
}

std::string WhyNoIpv6(std::string_view text) {
  const size_t odd = text.find_first_not_of("0123456789abcdefABCDEF:.");
  if (odd != std::string_view::npos) {
    const bool first = odd == 0 || text[odd - 1] == ':';
    return StrCat(first ? "each colon-separated field must have at least one digit"
                        : "unexpected character, want colon",
                  " (at ", GoQuote(text.substr(odd)), ")");
  }
  return text.find("::") == std::string_view::npos ? "address string too short"
                                                   : "trailing garbage after address";
}

std::string WhyNoAddress(std::string_view text) {
  const size_t first = text.find_first_of(".:%");
  if (first == std::string_view::npos) return "unable to parse IP";
  if (text[first] == '%') return "missing IPv6 address";
  if (text[first] == '.') return WhyNoIpv4(text);
  return IpAddress::Parse(text) ? "" : WhyNoIpv6(text);
}

}  // namespace

absl::Status CheckIpPrefix(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return absl::InvalidArgumentError(StrCat("netip.ParsePrefix(", GoQuote(text), "): ", why));
  };
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return wrong("no '/'");
  const std::string_view address = text.substr(0, slash), bits = text.substr(slash + 1);
  if (const std::string why = WhyNoAddress(address); !why.empty())
    return wrong(StrCat("ParseAddr(", GoQuote(address), "): ", why));
  if (address.find('%') != std::string_view::npos) return wrong("IPv6 zones cannot be present in a prefix");
  const std::optional<int> number =
      bits.size() > 1 && (bits[0] < '1' || bits[0] > '9') ? std::nullopt : ParseGoInt(bits);
  if (!number) return wrong(StrCat("bad bits after slash: ", GoQuote(bits)));
  const int most = address.find(':') == std::string_view::npos ? 32 : 128;
  return *number < 0 || *number > most ? wrong("prefix length out of range") : absl::OkStatus();
}

}  // namespace fairlead::injection
