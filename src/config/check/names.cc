#include "config/check/names.h"

#include <google/protobuf/duration.pb.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/ip_address.h"

namespace fairlead::config::check {
namespace {

constexpr size_t kLongestLabel = 63;
constexpr size_t kLongestDomain = 255;
constexpr size_t kLongestSubdomain = 253;
constexpr size_t kLongestRegex = 1024;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Letters and digits at both ends, those and `inner` between.
bool IsWord(std::string_view text, std::string_view inner) {
  if (text.empty() || !IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsAlphanumeric(c) || inner.find(c) != std::string_view::npos; });
}

std::string DomainSizeProblem(std::string_view text) {
  if (text.empty()) return "a domain name is missing";
  if (text.size() > kLongestDomain) return StrCat("a domain name has at most ", kLongestDomain, " bytes");
  return "";
}

std::string LabelsProblem(std::string_view domain) {
  const std::vector<std::string_view> labels = Split(domain, '.');
  if (int64_t number = 0; ParseGoInteger(labels.back(), &number))
    return StrCat("\"", domain, "\": the top-level domain \"", labels.back(), "\" may not be a number");
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i + 1 == labels.size() && labels[i].empty()) break;
    if (!IsDns1123Label(labels[i]))
      return StrCat("\"", domain, "\" is no domain name: \"", labels[i], "\" is no label of one");
  }
  return "";
}

std::string HostPartProblem(std::string_view host, bool gateway) {
  if (host != "*" && host.find('.') == std::string_view::npos)
    return StrCat("\"", host, "\": short names are not allowed");
  if (std::string why = WildcardDomainProblem(host); !why.empty()) {
    if (!gateway || !IsIpAddress(host)) return why;
  }
  return WhyPartialWildcard(host);
}

}  // namespace

bool IsDns1123Label(std::string_view text) { return text.size() <= kLongestLabel && IsWord(text, "-"); }

bool IsWildcardDns1123Label(std::string_view text) {
  if (text.size() > kLongestLabel) return false;
  if (text == "*") return true;
  if (text.starts_with("*-")) text.remove_prefix(2);
  if (text.starts_with("*")) text.remove_prefix(1);
  return IsWord(text, "-");
}

bool IsDns1123Subdomain(std::string_view text) {
  if (text.size() > kLongestSubdomain) return false;
  for (std::string_view label : Split(text, '.')) {
    if (!IsWord(label, "-") || AsciiLower(label) != label) return false;
  }
  return true;
}

std::string DomainProblem(std::string_view text) {
  std::string why = DomainSizeProblem(text);
  return why.empty() ? LabelsProblem(text) : why;
}

std::string WildcardDomainProblem(std::string_view text) {
  if (std::string why = DomainSizeProblem(text); !why.empty()) return why;
  const size_t dot = text.find('.');
  const std::string_view first = text.substr(0, dot);
  if (!IsWildcardDns1123Label(first))
    return StrCat("\"", text, "\" is no domain name: \"", first, "\" is no label of one");
  return dot == std::string_view::npos ? "" : LabelsProblem(text.substr(dot + 1));
}

std::string GatewayDomainProblem(bool sni, std::string_view text) {
  if (!sni || !text.starts_with("outbound_")) return WildcardDomainProblem(text);
  if (std::string why = DomainSizeProblem(text); !why.empty()) return why;
  const std::vector<std::string_view> parts = Split(text, '_');
  const auto has = [](std::string_view part, auto&& is) { return std::any_of(part.begin(), part.end(), is); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [&](char c) { return IsAlphanumeric(c) && !is_digit(c); };
  if (parts.size() >= 4 && has(parts[1], is_digit) && has(parts[3], is_letter)) return "";
  return StrCat("\"", text, "\" is not outbound_.PORT_._.HOST");
}

std::string NamespacedHostProblem(std::string_view text, bool gateway, bool gateway_api) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    return gateway ? HostPartProblem(text, true) : StrCat("\"", text, "\" is not namespace/host");
  std::string_view ns = text.substr(0, slash);
  const std::string_view host = text.substr(slash + 1);
  if (ns.empty() || host.empty()) return StrCat("\"", text, "\": neither namespace nor host may be empty");
  bool good = ns == "*" || ns == "." || IsDns1123Label(ns);
  if (gateway && gateway_api && ns == "~") good = true;
  if (!gateway && ns.starts_with('~')) {
    ns.remove_prefix(1);
    good = ns.empty() || ns == "*" || ns == "." || IsDns1123Label(ns);
  }
  if (!good) return StrCat("\"", ns, "\" is no namespace");
  return HostPartProblem(host, gateway);
}

std::string WhyPartialWildcard(std::string_view host) {
  if (host.find('*') == std::string_view::npos || host == "*" || host.starts_with("*.")) return "";
  return StrCat("\"", host, "\": a wildcard stands for a whole label, the first one");
}

std::string TrustDomainProblem(std::string_view text) {
  if (text.empty()) return "a trust domain is missing";
  const std::vector<std::string_view> labels = Split(text, '.');
  for (size_t i = 0; i < labels.size(); ++i) {
    if (i + 1 == labels.size() && labels[i].empty()) break;
    if (!IsDns1123Label(labels[i])) return StrCat("\"", text, "\" is no trust domain");
  }
  return "";
}

std::string PortProblem(int64_t number) {
  return number >= 1 && number <= 65535 ? "" : StrCat("port ", number, " is not in 1..65535");
}

std::string PortNameProblem(std::string_view name) {
  return IsDns1123Label(name) ? "" : StrCat("\"", name, "\" is no name of a port");
}

std::string ProtocolProblem(std::string_view name) {
  if (name.empty() || ParseProtocol(name) != Protocol::kUnsupported) return "";
  return StrCat("unknown protocol \"", name, "\"");
}

std::string IpAddressProblem(std::string_view text) {
  return IsIpAddress(text) ? "" : StrCat("\"", text, "\" is no IP address");
}

std::string IpRangeProblem(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') != 1) return IpAddressProblem(text);
  return IpPrefix::Parse(text) ? "" : StrCat("\"", text, "\" is no range in CIDR notation");
}

std::string SocketPathProblem(std::string_view path) {
  if (path.empty()) return "the socket's path is missing";
  if (path.starts_with('@') || (path.starts_with('/') && !path.ends_with('/'))) return "";
  return StrCat("\"", path, "\" is not the absolute path of a file");
}

bool SplitHostPort(std::string_view text, std::string_view* host, std::string_view* port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  *port = text.substr(colon + 1);
  *host = text.substr(0, colon);
  if (host->starts_with('[')) {
    if (host->find(']') != host->size() - 1) return false;
    *host = host->substr(1, host->size() - 2);
    return host->find('[') == std::string_view::npos && port->find_first_of("[]") == std::string_view::npos;
  }
  return host->find_first_of(":[]") == std::string_view::npos &&
         port->find_first_of("[]") == std::string_view::npos;
}

bool ParseGoInteger(std::string_view text, int64_t* number) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, *number);
  return code == std::errc() && stop == end && !text.empty();
}

std::string HostAndPortProblem(std::string_view text) {
  std::string_view host, port;
  if (!SplitHostPort(text, &host, &port)) return StrCat("\"", text, "\" is not host:port");
  int64_t number = 0;
  if (!ParseGoInteger(port, &number)) return StrCat("\"", text, "\": the port is no number");
  if (std::string why = PortProblem(number); !why.empty()) return why;
  if (DomainProblem(host).empty() || IsIpAddress(host)) return "";
  return StrCat("\"", host, "\" is neither a domain name nor an IP address");
}

std::string LabelProblem(std::string_view key, std::string_view value) {
  std::string_view name = key;
  if (const size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (prefix.size() > kLongestSubdomain) return StrCat("the prefix of label \"", key, "\" is too long");
    for (std::string_view label : Split(prefix, '.')) {
      if (!IsWord(label, "-")) return StrCat("\"", key, "\" is no key of a label");
    }
  }
  if (name.size() > kLongestLabel || !IsWord(name, "-_."))
    return StrCat("\"", key, "\" is no key of a label");
  if (!value.empty() && !IsWord(value, "-_.")) return StrCat("\"", value, "\" is no value of a label");
  return "";
}

std::string SubsetNameProblem(std::string_view name) {
  if (name.empty()) return "a subset's name is missing";
  return IsDns1123Label(name) ? "" : StrCat("\"", name, "\" is no name of a subset");
}

int64_t Nanoseconds(const google::protobuf::Duration& duration) {
  return duration.seconds() * 1'000'000'000 + duration.nanos();
}

std::string DurationProblem(const google::protobuf::Duration& duration) {
  if (duration.seconds() < 0 || (duration.seconds() == 0 && duration.nanos() < 1'000'000))
    return "a duration is at least 1ms";
  return duration.nanos() % 1'000'000 == 0 ? "" : "a duration has whole milliseconds";
}

std::string RegexProblem(const std::string& pattern) {
  if (pattern.size() > kLongestRegex)
    return StrCat("a regular expression has at most ", kLongestRegex, " bytes");
  const RE2 expression(pattern, RE2::Quiet);
  return expression.ok() ? "" : StrCat("bad regular expression: ", expression.error());
}

}  // namespace fairlead::config::check
