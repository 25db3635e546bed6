#include "config/host_name.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace fairlead::config {
namespace {

TEST(HostsMatch, ExactNamesMatchThemselvesOnly) {
  EXPECT_TRUE(HostsMatch("a.example.com", "a.example.com"));
  EXPECT_FALSE(HostsMatch("a.example.com", "b.example.com"));
}

TEST(HostsMatch, WildcardsCoverNamesAndNarrowerWildcardsOnEitherSide) {
  EXPECT_TRUE(HostsMatch("*.example.com", "a.example.com"));
  EXPECT_TRUE(HostsMatch("a.example.com", "*.example.com"));
  EXPECT_TRUE(HostsMatch("*.example.com", "*.a.example.com"));
  EXPECT_TRUE(HostsMatch("*", "*.a.example.com"));
  EXPECT_FALSE(HostsMatch("*.example.com", "example.com"));
  EXPECT_FALSE(HostsMatch("*.example.com", "*.example.org"));
}

TEST(HostSubsetOf, IsOneSided) {
  EXPECT_TRUE(HostSubsetOf("a.example.com", "*.example.com"));
  EXPECT_FALSE(HostSubsetOf("*.example.com", "a.example.com"));
  EXPECT_TRUE(HostSubsetOf("*.a.example.com", "*.example.com"));
  EXPECT_FALSE(HostSubsetOf("*.example.com", "*.a.example.com"));
  EXPECT_TRUE(HostSubsetOf("*.example.com", "*"));
}

TEST(MoreSpecificHost, SortsLongestFirstAndWildcardsLast) {
  std::vector<std::string> hosts = {"*", "*.com", "b.com", "a.com", "www.a.com", "*.a.com"};
  std::sort(hosts.begin(), hosts.end(), MoreSpecificHost);
  EXPECT_EQ(hosts, (std::vector<std::string>{"www.a.com", "a.com", "b.com", "*.a.com", "*.com", "*"}));
}

TEST(QualifyHost, OnlyShortNamesGetTheNamespaceAndDomain) {
  EXPECT_EQ(QualifyHost("reviews", "shop", "cluster.local"), "reviews.shop.svc.cluster.local");
  EXPECT_EQ(QualifyHost("reviews.shop", "default", "cluster.local"), "reviews.shop");
  EXPECT_EQ(QualifyHost("*", "default", "cluster.local"), "*");
  EXPECT_EQ(QualifyHost("::1", "default", "cluster.local"), "::1");
  EXPECT_EQ(QualifyHost("", "default", "cluster.local"), "");
}

}  // namespace
}  // namespace fairlead::config
