#include "debug/access.h"

#include "base/strings.h"

namespace fairlead::debug {

bool IsLocal(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  for (std::string_view prefix : {"ipv4:", "ipv6:", "%5B", "["}) {
    if (address.starts_with(prefix)) address.remove_prefix(prefix.size());
  }
  if (address.starts_with("::ffff:")) address.remove_prefix(7);
  const bool loopback6 = address == "::1" || address.starts_with("::1%5D") || address.starts_with("::1]");
  return loopback6 || address.starts_with("127.");
}

absl::StatusOr<std::string> MayInspect(std::string_view address,
                                       const std::optional<model::PeerIdentity>& identity,
                                       std::string_view root_namespace) {
  if (IsLocal(address)) return "";
  if (!identity) return absl::UnauthenticatedError("authentication required");
  return identity->ns == root_namespace ? "" : identity->ns;
}

absl::Status MayReadObjects(std::string_view address, const std::optional<model::PeerIdentity>& identity,
                            std::string_view root_namespace) {
  const auto ns = MayInspect(address, identity, root_namespace);
  if (!ns.ok()) return ns.status();
  if (ns->empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(StrCat("workloads of ", *ns, " may not read the objects of the mesh"));
}

}  // namespace fairlead::debug
