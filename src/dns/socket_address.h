#ifndef FAIRLEAD_DNS_SOCKET_ADDRESS_H_
#define FAIRLEAD_DNS_SOCKET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <string>

namespace fairlead::dns {

// The place of a socket: an IP address and a port. A plain value.
struct SocketAddress {
  // "10.96.0.10", "fe80::1%eth0"; nothing where it is no address.
  static std::optional<SocketAddress> Parse(const std::string& host, uint16_t port);
  static SocketAddress Of(const sockaddr_storage& bytes);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  socklen_t size() const { return is_v6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  int family() const { return bytes.ss_family; }
  bool is_v6() const { return bytes.ss_family == AF_INET6; }
  uint16_t port() const;
  std::string host() const;      // without a port
  std::string ToString() const;  // "127.0.0.1:53", "[::1]:53"
  friend bool operator==(const SocketAddress& a, const SocketAddress& b);

  sockaddr_storage bytes{};
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_SOCKET_ADDRESS_H_
