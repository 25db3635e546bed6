#include "gen/route/route_name.h"

#include <charconv>
#include <optional>

namespace fairlead::gen::route {
namespace {

std::optional<uint32_t> ParsePort(std::string_view text) {
  uint32_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

RouteName ParseRouteName(std::string_view name) {
  using Kind = RouteName::Kind;
  if (name == "http_proxy" || name.starts_with("unix://"))
    return {.kind = Kind::kProxy, .port = 0, .host = {}};
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) {
    const std::optional<uint32_t> port = ParsePort(name);
    if (!port) return {};
    return {.kind = *port == 0 ? Kind::kProxy : Kind::kPort, .port = *port, .host = {}};
  }
  const std::optional<uint32_t> port = ParsePort(name.substr(colon + 1));
  if (!port) return {};
  return {.kind = Kind::kSniffed, .port = *port, .host = name.substr(0, colon)};
}

}  // namespace fairlead::gen::route
