#include "push/stream/reason.h"

#include "base/strings.h"

namespace fairlead::push {

std::string_view NameOf(Reason reason) {
  static constexpr std::array<std::string_view, kReasonCount> kNames = {
      "endpoint", "config", "service", "secret", "networks", "global", "proxy", "debug", "unknown"};
  return kNames[static_cast<size_t>(reason)];
}

Reason ReasonOf(config::Kind kind) {
  using config::Kind;
  switch (kind) {
    case Kind::kEndpointSlice:
    case Kind::kPod:
    case Kind::kNode:
    case Kind::kServiceExport:
      return Reason::kEndpoint;
    case Kind::kService:
    case Kind::kServiceImport:
    case Kind::kServiceEntry:
    case Kind::kWorkloadEntry:
      return Reason::kService;
    case Kind::kSecret:
      return Reason::kSecret;
    default:
      return Reason::kConfig;
  }
}

bool Reasons::Only(Reason reason) const {
  for (size_t i = 0; i < kReasonCount; ++i) {
    if ((counts[i] != 0) != (i == static_cast<size_t>(reason))) return false;
  }
  return true;
}

size_t Reasons::Total() const {
  size_t total = 0;
  for (uint32_t count : counts) total += count;
  return total;
}

std::string Reasons::ToText() const {
  std::string text;
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (counts[i] == 0) continue;
    StrAppend(&text, text.empty() ? "" : " ", NameOf(static_cast<Reason>(i)), ":", counts[i]);
  }
  return text.empty() ? "none" : text;
}

}  // namespace fairlead::push
