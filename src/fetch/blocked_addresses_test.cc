#include "fetch/blocked_addresses.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace fairlead::fetch {
namespace {

bool Blocked(const char* address, std::vector<IpPrefix> more = {}) {
  return BlockedAddresses(std::move(more)).Contain(*IpAddress::Parse(address));
}

TEST(BlockedAddresses, AreThoseOfMachinesSecrets) {
  for (const char* address :
       {"169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "100.100.100.200", "fd00:ec2::254"}) {
    EXPECT_TRUE(Blocked(address)) << address;
  }
  for (const char* address :
       {"10.0.0.1", "127.0.0.1", "::1", "100.100.100.201", "2001:db8::1", "::ffff:10.0.0.1"}) {
    EXPECT_FALSE(Blocked(address)) << address;
  }
}

TEST(BlockedAddresses, AndTheOperators) {
  EXPECT_TRUE(Blocked("10.1.2.3", {*IpPrefix::Parse("10.0.0.0/8")}));
  EXPECT_TRUE(Blocked("::ffff:10.1.2.3", {*IpPrefix::Parse("10.0.0.0/8")}));
  EXPECT_FALSE(Blocked("11.1.2.3", {*IpPrefix::Parse("10.0.0.0/8")}));
}

// What the kernel, or a translator on the way, takes for another address.
TEST(BlockedAddresses, AnAddressCountsAsWhatItReaches) {
  const std::vector<IpPrefix> loopback = {*IpPrefix::Parse("127.0.0.0/8"), *IpPrefix::Parse("::1/128")};
  for (const char* address :
       {"0.0.0.0", "0.1.2.3", "::", "::1", "::ffff:0.0.0.0", "::127.0.0.1", "::ffff:127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:7f00:1:5:6::7"}) {
    EXPECT_TRUE(Blocked(address, loopback)) << address;
  }
  for (const char* address : {"64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254"}) {
    EXPECT_TRUE(Blocked(address)) << address << " is link-local whatever the operator says";
  }
  for (const char* address : {"64:ff9b::a00:1", "2002:a00:1::", "64:ff9c::7f00:1", "2003:7f00:1::"}) {
    EXPECT_FALSE(Blocked(address, loopback)) << address;
  }
}

TEST(BlockedAddresses, PortsOfAnAddressMayBeBlocked) {
  BlockedAddresses blocked;
  blocked.BlockEndpoints(
      [](const IpAddress& address, int port) { return port == 8080 && IsOwnAddress(address); });
  const auto blocks = [&](const char* host, int port) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(port));
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = v6.sin6_port;
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1)
      return blocked.Blocks(reinterpret_cast<const sockaddr&>(v4));
    EXPECT_EQ(inet_pton(AF_INET6, host, &v6.sin6_addr), 1) << host;
    return blocked.Blocks(reinterpret_cast<const sockaddr&>(v6));
  };
  EXPECT_EQ(blocks("127.0.0.1", 8080), "127.0.0.1:8080");
  EXPECT_EQ(blocks("0.0.0.0", 8080), "0.0.0.0:8080");
  EXPECT_EQ(blocks("::1", 8080), "[::1]:8080");
  EXPECT_NE(blocks("::ffff:127.0.0.1", 8080), "");
  EXPECT_EQ(blocks("127.0.0.1", 8081), "");
  EXPECT_EQ(blocks("192.0.2.1", 8080), "") << "a documentation's address is no machine's own";
  EXPECT_EQ(blocks("169.254.169.254", 80), "169.254.169.254");
}

}  // namespace
}  // namespace fairlead::fetch
