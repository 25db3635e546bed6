#ifndef FAIRLEAD_DEBUG_ACCESS_H_
#define FAIRLEAD_DEBUG_ACCESS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/peer_identity.h"

// Who may inspect what: operators on this machine everything; so may workloads of the root namespace;
// workloads of other namespaces the proxies of their own; nobody else anything. Source: istiod's
// ENABLE_DEBUG_ENDPOINT_AUTH; that the machine itself may, too, is its rule for HTTP.
namespace fairlead::debug {

// "ipv4:127.0.0.1:1234", "ipv6:%5B::1%5D:1", "unix:…", or an address alone, "::1"; and the same of an address
// that an interface of this machine has.
bool IsLocal(std::string_view address);

// The namespace that the peer is restricted to, "" for none. Unauthenticated where it may see nothing.
absl::StatusOr<std::string> MayInspect(std::string_view address,
                                       const std::optional<model::PeerIdentity>& identity,
                                       std::string_view root_namespace);

// Whether the peer may read the objects of all namespaces: those may whom MayInspect does not restrict.
// Unauthenticated, PermissionDenied. Source: istiod's ENABLE_XDS_API_GENERATOR_AUTH.
absl::Status MayReadObjects(std::string_view address, const std::optional<model::PeerIdentity>& identity,
                            std::string_view root_namespace);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_ACCESS_H_
