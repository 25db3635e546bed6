#include "dns/socket_address.h"

#include <netdb.h>

#include <cstring>

#include "base/strings.h"

namespace fairlead::dns {

std::optional<SocketAddress> SocketAddress::Parse(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), StrCat(port).c_str(), &hints, &found) != 0) return std::nullopt;
  SocketAddress address;
  std::memcpy(&address.bytes, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return address;
}

SocketAddress SocketAddress::Of(const sockaddr_storage& bytes) {
  SocketAddress address;
  address.bytes = bytes;
  return address;
}

uint16_t SocketAddress::port() const {
  return ntohs(is_v6() ? reinterpret_cast<const sockaddr_in6*>(&bytes)->sin6_port
                       : reinterpret_cast<const sockaddr_in*>(&bytes)->sin_port);
}

std::string SocketAddress::host() const {
  char text[NI_MAXHOST];
  if (getnameinfo(get(), size(), text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  return text;
}

std::string SocketAddress::ToString() const {
  return is_v6() ? StrCat("[", host(), "]:", port()) : StrCat(host(), ":", port());
}

bool operator==(const SocketAddress& a, const SocketAddress& b) {
  return a.family() == b.family() && a.port() == b.port() && a.host() == b.host();
}

}  // namespace fairlead::dns
