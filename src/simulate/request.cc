#include "simulate/request.h"

#include "base/strings.h"

namespace fairlead::simulate {

std::string_view NameOf(CallDirection direction) {
  switch (direction) {
    case CallDirection::kOutbound:
      return "outbound";
    case CallDirection::kInbound:
      return "inbound";
    case CallDirection::kGateway:
      return "gateway";
  }
  return "";
}

std::optional<std::string> SimulatedRequest::Header(std::string_view name) const {
  if (name == ":method") return method;
  if (name == ":path") return path;
  if (name == ":scheme") return scheme;
  if (EqualsIgnoreCase(name, ":authority") || EqualsIgnoreCase(name, "host")) {
    return authority.empty() ? std::nullopt : std::optional(authority);
  }
  std::optional<std::string> joined;
  for (const auto& [key, value] : headers) {
    if (!EqualsIgnoreCase(key, name)) continue;
    joined = joined ? StrCat(*joined, ",", value) : value;
  }
  return joined;
}

}  // namespace fairlead::simulate
