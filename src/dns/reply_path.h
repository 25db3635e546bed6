#ifndef FAIRLEAD_DNS_REPLY_PATH_H_
#define FAIRLEAD_DNS_REPLY_PATH_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

#include "dns/answer.h"

namespace fairlead::dns {

// A client of UDP, and the own address that it has asked.
struct UdpPeer {
  static constexpr size_t kControlSize = 64;  // CMSG_SPACE of an in6_pktinfo

  sockaddr_storage name{};
  socklen_t name_size = 0;
  alignas(cmsghdr) char control[kControlSize] = {};
  size_t control_size = 0;
};
static_assert(CMSG_SPACE(sizeof(in6_pktinfo)) <= UdpPeer::kControlSize);

// Where an answer goes. A plain value.
struct ReplyPath {
  DnsTransport transport = DnsTransport::kUdp;
  UdpPeer peer;             // of UDP
  size_t listener = 0;      // of UDP: the number of the socket that the query came by
  uint64_t connection = 0;  // of TCP: its number
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_REPLY_PATH_H_
