#ifndef FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_
#define FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_

#include <sys/socket.h>

#include <optional>
#include <vector>

#include "base/ip_address.h"

namespace fairlead::fetch {

// Where nothing is ever fetched from, whatever the configuration of a mesh says: link-local addresses and
// those at which clouds tell machines their secrets; and the operator's ranges. An IPv4 address inside of an
// IPv6 one counts as itself. Asked for each connection, so that neither names nor redirects lead there.
class BlockedAddresses {
 public:
  BlockedAddresses() : BlockedAddresses(std::vector<IpPrefix>()) {}
  explicit BlockedAddresses(std::vector<IpPrefix> more);
  bool Contain(const IpAddress& address) const;

 private:
  std::vector<IpPrefix> ranges_;
};

// Of a socket's address; nothing where it is not of IP.
std::optional<IpAddress> AddressOf(const sockaddr& address);

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_
