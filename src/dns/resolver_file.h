#ifndef FAIRLEAD_DNS_RESOLVER_FILE_H_
#define FAIRLEAD_DNS_RESOLVER_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dns/socket_address.h"

namespace fairlead::dns {

// A resolv.conf, as far as a forwarder needs it.
struct ResolverFile {
  std::vector<SocketAddress> servers;    // port 53
  std::vector<std::string> search;       // domains, without a dot at the end
  std::vector<std::string> not_servers;  // nameserver lines without an address
};

// Reads such a text: the last line of `search` or `domain` counts, servers and domains are bounded. Pure.
// Source: resolv.conf(5); pilot-agent, for which all servers count, not three.
ResolverFile ParseResolverFile(std::string_view text);
// NotFound or Unavailable, with path and reason.
absl::StatusOr<ResolverFile> ReadResolverFile(const std::string& path);

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_RESOLVER_FILE_H_
