#ifndef FAIRLEAD_SIMULATE_NAME_RESOLUTION_H_
#define FAIRLEAD_SIMULATE_NAME_RESOLUTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "mesh/index/snapshot.h"
#include "mesh/view/proxy_scope.h"

namespace fairlead::simulate {

// The address that a workload connects to for a name.
struct ResolvedName {
  std::string address;  // an IP
  std::string note;     // why it is a guess; "" where it is what the cluster's DNS says
};

// Addresses that stand for "somewhere outside": of TEST-NET-1 (RFC 5737), of the documentation prefix (RFC
// 3849).
inline constexpr std::string_view kUnknownAddress = "192.0.2.1";
inline constexpr std::string_view kUnknownIpv6Address = "2001:db8::1";

// Resolves as a pod does: the cluster's search domains for short names, then the services of the mesh
// (virtual IP; an endpoint of a headless service or, by "pod.service", that one; the target of an
// ExternalName), the address of a ServiceEntry (the one that was allocated to it where the proxy answers
// DNS). An IP is itself. kUnknownAddress, with a note, where only the Internet's DNS would know.
ResolvedName ResolveName(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                         std::string_view name);

// The reason for no answer at the host and port: "reviews.bookshop has port 9080, not 80", "nobody has the
// host reviewz.bookshop; did you mean reviews?". "" if somebody answers, or only the Internet's DNS would
// know.
std::string MissingTarget(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                          std::string_view host, uint32_t port);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_NAME_RESOLUTION_H_
