#include "base/ip_address.h"

#include "gtest/gtest.h"

namespace fairlead {
namespace {

TEST(IpAddress, IsStrict) {
  EXPECT_TRUE(IsIpAddress("10.0.0.1"));
  EXPECT_TRUE(IsIpAddress("2001:db8::1"));
  EXPECT_TRUE(IsIpAddress("fe80::1%eth0"));
  for (const char* bad : {"", "10.0.0", "10.0.0.01", "10.0.0.256", "10.0.0.1/8", "web", "fe80::1%", ":::"}) {
    EXPECT_FALSE(IsIpAddress(bad)) << bad;
  }
}

TEST(IpAddress, FamiliesAndCanonicalText) {
  EXPECT_TRUE(IpAddress::Parse("10.0.0.1")->is_v4());
  EXPECT_TRUE(IpAddress::Parse("::ffff:10.0.0.1")->is_v6());
  EXPECT_EQ(IpAddress::Parse("2001:DB8:0:0::1")->ToString(), "2001:db8::1");
  EXPECT_TRUE(IpAddress::Parse("127.9.9.9")->is_loopback());
  EXPECT_TRUE(IpAddress::Parse("::1")->is_loopback());
  EXPECT_TRUE(IpAddress::Parse("::")->is_unspecified());
  EXPECT_FALSE(IpAddress::Parse("10.0.0.1")->is_unspecified());
}

TEST(IpPrefix, ContainsAddressesOfItsFamily) {
  const auto net = IpPrefix::Parse("10.1.2.3/16");
  ASSERT_TRUE(net);
  EXPECT_TRUE(net->Contains(*IpAddress::Parse("10.1.255.255")));
  EXPECT_FALSE(net->Contains(*IpAddress::Parse("10.2.0.0")));
  EXPECT_FALSE(net->Contains(*IpAddress::Parse("::1")));
  EXPECT_TRUE(IpPrefix::Parse("::/0")->Contains(*IpAddress::Parse("::1")));
  EXPECT_TRUE(IpPrefix::Parse("10.0.0.1/32")->is_single());
  EXPECT_FALSE(IpPrefix::Parse("2001:db8::/32")->is_single());
}

TEST(IpPrefix, RefusesWhatIsNone) {
  for (const char* bad :
       {"10.0.0.1", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/08", "10.0.0.1/", "web/8", "::/129"}) {
    EXPECT_FALSE(IpPrefix::Parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace fairlead
