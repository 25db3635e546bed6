#ifndef FAIRLEAD_JWKS_BLOCKED_ADDRESSES_H_
#define FAIRLEAD_JWKS_BLOCKED_ADDRESSES_H_

#include <vector>

#include "base/ip_address.h"

namespace fairlead::jwks {

// Where keys are never fetched from, whatever a RequestAuthentication says: link-local addresses and those at
// which clouds tell machines their secrets; and the operator's ranges. An IPv4 address inside of an IPv6 one
// counts as itself. Asked for each connection, so that neither names nor redirects lead there.
class BlockedAddresses {
 public:
  BlockedAddresses() : BlockedAddresses(std::vector<IpPrefix>()) {}
  explicit BlockedAddresses(std::vector<IpPrefix> more);
  bool Contain(const IpAddress& address) const;

 private:
  std::vector<IpPrefix> ranges_;
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_BLOCKED_ADDRESSES_H_
