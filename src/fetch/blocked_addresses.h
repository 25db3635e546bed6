#ifndef FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_
#define FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_

#include <sys/socket.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ip_address.h"

namespace fairlead::fetch {

// Where nothing is ever fetched from, whatever the configuration of a mesh says: link-local addresses and
// those at which clouds tell machines their secrets; and the operator's ranges. Asked for each connection, so
// that neither names nor redirects lead there.
//
// An address counts as all that it reaches: an IPv4 address inside of an IPv6 one (mapped, compatible, NAT64,
// 6to4) as itself, and 0.0.0.0/8 and :: as loopback, which the kernel takes them for. Sources: RFC 4291
// (2.5.5), RFC 6052 (2.1), RFC 8215, RFC 3056 (2).
class BlockedAddresses {
 public:
  // Says whether a port of an address must not be asked.
  using Endpoints = std::function<bool(const IpAddress& address, int port)>;

  BlockedAddresses() : BlockedAddresses(std::vector<IpPrefix>()) {}
  explicit BlockedAddresses(std::vector<IpPrefix> more);
  // Besides the ranges; called on the threads that fetch. Replaces earlier ones.
  void BlockEndpoints(Endpoints endpoints) { endpoints_ = std::move(endpoints); }
  // Besides those that are blocked already.
  void BlockRanges(const std::vector<IpPrefix>& more);

  bool Contain(const IpAddress& address) const;
  // What of a socket's address is blocked, for a message: "10.0.0.1", "127.0.0.1:8080"; "" where it may be
  // asked.
  std::string Blocks(const sockaddr& address) const;
  std::string Blocks(const std::optional<IpAddress>& address, int port) const;

 private:
  std::vector<IpPrefix> ranges_;
  Endpoints endpoints_;  // null: none
};

// Of a socket's address; nothing where it is not of IP.
std::optional<IpAddress> AddressOf(const sockaddr& address);
int PortOf(const sockaddr& address);

// Everything that an address reaches, itself first.
std::vector<IpAddress> Reached(const IpAddress& address);

// Whether whoever connects to the address stays on this machine: loopback, or one of its interfaces'.
bool IsOwnAddress(const IpAddress& address);

// Addresses that are no server's of the web: private, shared and unique local ranges, and loopback.
const std::vector<IpPrefix>& PrivateRanges();

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_BLOCKED_ADDRESSES_H_
