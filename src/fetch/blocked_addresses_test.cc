#include "fetch/blocked_addresses.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace fairlead::fetch
