#include "model/peer_identity.h"

#include <vector>

#include "base/strings.h"

namespace fairlead::model {

std::optional<PeerIdentity> ParseSpiffeId(std::string_view text) {
  constexpr std::string_view kScheme = "spiffe://";
  if (!text.starts_with(kScheme)) return std::nullopt;
  const std::vector<std::string_view> parts = Split(text.substr(kScheme.size()), '/');
  if (parts.size() != 5 || parts[1] != "ns" || parts[3] != "sa") return std::nullopt;
  for (std::string_view part : parts) {
    if (part.empty()) return std::nullopt;
  }
  return PeerIdentity{std::string(parts[0]), std::string(parts[2]), std::string(parts[4])};
}

}  // namespace fairlead::model
