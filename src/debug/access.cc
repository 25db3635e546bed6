#include "debug/access.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/own_addresses.h"
#include "base/strings.h"

namespace fairlead::debug {
namespace {

// Without brackets and port: "10.0.0.1" of "10.0.0.1:80", "fd00::1" of "fd00::1%5D:80" and of itself.
std::string HostOf(std::string_view address) {
  for (std::string_view end : {"%5D", "]"}) {
    const size_t at = address.find(end);
    if (at != std::string_view::npos) return std::string(address.substr(0, at));
  }
  const bool with_port = std::count(address.begin(), address.end(), ':') == 1;
  return std::string(with_port ? address.substr(0, address.find(':')) : address);
}

}  // namespace

bool IsLocal(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  for (std::string_view prefix : {"ipv4:", "ipv6:", "%5B", "["}) {
    if (address.starts_with(prefix)) address.remove_prefix(prefix.size());
  }
  if (address.starts_with("::ffff:")) address.remove_prefix(7);
  const bool loopback6 = address == "::1" || address.starts_with("::1%5D") || address.starts_with("::1]");
  if (loopback6 || address.starts_with("127.")) return true;
  // A process of this machine that asks it by another address than the loopback's has that address itself.
  const std::string host = HostOf(address);
  const std::vector<std::string> own = OwnAddresses();
  return !host.empty() && std::find(own.begin(), own.end(), host) != own.end();
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
