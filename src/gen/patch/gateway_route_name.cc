#include "gen/patch/gateway_route_name.h"

#include <charconv>
#include <vector>

#include "base/strings.h"

namespace fairlead::gen::patch {

uint32_t NumberOf(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

GatewayRouteName ParseGatewayRouteName(std::string_view name) {
  GatewayRouteName out;
  const std::vector<std::string_view> parts = Split(name, '.');
  if (parts.size() >= 2 && parts[0] == "http") out.port = NumberOf(name.substr(parts[0].size() + 1));
  if (parts.size() != 5 || parts[0] != "https") return out;
  out.port = NumberOf(parts[1]);
  out.port_name = parts[2];
  out.gateway = StrCat(parts[4], "/", parts[3]);
  return out;
}

}  // namespace fairlead::gen::patch
