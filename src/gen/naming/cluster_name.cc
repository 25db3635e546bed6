#include "gen/naming/cluster_name.h"

#include <charconv>

#include "base/strings.h"

namespace fairlead::gen {
namespace {

constexpr std::string_view kUdpOutbound = "outbound_udp";

// Cuts `text` at the first separator: returns what is before, leaves what is after. False where there is
// none.
bool Cut(std::string_view* text, std::string_view separator, std::string_view* before) {
  const size_t at = text->find(separator);
  if (at == std::string_view::npos) return false;
  *before = text->substr(0, at);
  text->remove_prefix(at + separator.size());
  return true;
}

}  // namespace

std::string OutboundClusterName(uint32_t port, std::string_view subset, std::string_view host) {
  return StrCat("outbound|", port, "|", subset, "|", host);
}

std::string UdpClusterName(uint32_t port, std::string_view host) {
  return StrCat(kUdpOutbound, "|", port, "||", host);
}

std::string InboundClusterName(uint32_t port) { return StrCat("inbound|", port, "||"); }

std::string DnsSrvName(uint32_t port, std::string_view subset, std::string_view host) {
  return StrCat("outbound_.", port, "_.", subset, "_.", host);
}

std::string DnsCacheName(std::string_view host) { return StrCat(host, "_dfp_dns_cache"); }

ParsedClusterName ParseClusterName(std::string_view name) {
  ParsedClusterName parsed;
  parsed.dns_srv = name.starts_with("outbound_.") || name.starts_with("inbound_.");
  const std::string_view separator = parsed.dns_srv ? "_." : "|";
  std::string_view direction, port, subset;
  if (!Cut(&name, separator, &direction) || !Cut(&name, separator, &port) || !Cut(&name, separator, &subset))
    return {};
  if (name.find('|') != std::string_view::npos) return {};
  parsed.udp = direction == kUdpOutbound;
  if (direction == "outbound" || parsed.udp) {
    parsed.direction = Direction::kOutbound;
  } else if (direction == "inbound") {
    parsed.direction = Direction::kInbound;
  } else {
    return {};
  }
  std::from_chars(port.data(), port.data() + port.size(), parsed.port);
  parsed.subset = subset;
  parsed.host = name;
  return parsed;
}

}  // namespace fairlead::gen
