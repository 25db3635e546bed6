#include "gen/route/domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::gen::route {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kClient[] = "default.svc.cluster.local";

TEST(AlternateHosts, OfKubernetesServicesDependOnTheClientsNamespace) {
  EXPECT_THAT(
      AlternateHosts("reviews.default.svc.cluster.local", 0, {kClient}),
      ElementsAre("reviews.default.svc.cluster.local.", "reviews", "reviews.default.svc", "reviews.default"));
  EXPECT_THAT(AlternateHosts("reviews.shop.svc.cluster.local", 0, {kClient}),
              ElementsAre("reviews.shop.svc.cluster.local.", "reviews.shop", "reviews.shop.svc"));
}

TEST(AlternateHosts, WithPortComeBothWays) {
  EXPECT_THAT(AlternateHosts("a.shop.svc.cluster.local", 81, {kClient}),
              ElementsAre("a.shop.svc.cluster.local.", "a.shop.svc.cluster.local.:81", "a.shop", "a.shop:81",
                          "a.shop.svc", "a.shop.svc:81"));
}

TEST(AlternateHosts, OfOtherHostsInKubernetesAreAbsoluteOnly) {
  EXPECT_THAT(AlternateHosts("example.com", 0, {kClient}), ElementsAre("example.com."));
  EXPECT_THAT(AlternateHosts("10.1.2.3", 0, {kClient}), IsEmpty());
  EXPECT_THAT(AlternateHosts("svc.cluster.local", 0, {kClient}), ElementsAre("svc.cluster.local."));
}

TEST(AlternateHosts, MayBeRelativeAlone) {
  EXPECT_THAT(AlternateHosts("reviews.shop.svc.cluster.local", 0, {kClient, /*absolute=*/false}),
              Not(Contains("reviews.shop.svc.cluster.local.")));
  EXPECT_THAT(AlternateHosts("example.com", 0, {kClient, /*absolute=*/false}), IsEmpty());
}

TEST(AlternateHosts, OutsideKubernetesAreRelativeToTheSharedDomain) {
  EXPECT_THAT(AlternateHosts("foo.local.campus.net", 0, {"local.campus.net"}),
              ElementsAre("foo.local.campus.net.", "foo"));
  EXPECT_THAT(AlternateHosts("foo.local.campus.net", 0, {"remote.campus.net"}),
              ElementsAre("foo.local.campus.net.", "foo.local", "foo.local.campus"));
  EXPECT_THAT(AlternateHosts("foo.local.campus.net", 0, {"example.com"}),
              ElementsAre("foo.local.campus.net."));
  EXPECT_THAT(AlternateHosts("foo.com", 0, {""}), ElementsAre("foo.com."));
}

std::vector<std::string> NamesOf(const std::vector<Domain>& domains) {
  std::vector<std::string> names;
  names.reserve(domains.size());
  for (const Domain& domain : domains) names.push_back(domain.name);
  return names;
}

TEST(ServiceDomains, HoldAliasesPodsAndAddresses) {
  model::Service service;
  service.resolution = model::Resolution::kPassthrough;
  service.aliases = {{"old.default.svc.cluster.local", "default"}};
  const auto domains = ServiceDomains(service, "db.shop.svc.cluster.local", 0, {kClient},
                                      {"10.0.0.1", "2001:db8::1", "0.0.0.0"});
  EXPECT_THAT(
      NamesOf(domains),
      ElementsAre("db.shop.svc.cluster.local", "db.shop.svc.cluster.local.", "db.shop", "db.shop.svc",
                  "old.default.svc.cluster.local", "old.default.svc.cluster.local.", "old", "old.default.svc",
                  "old.default", "*.db.shop.svc.cluster.local", "*.db.shop.svc.cluster.local.", "*.db.shop",
                  "*.db.shop.svc", "*.old.default.svc.cluster.local", "*.old.default.svc.cluster.local.",
                  "*.old", "*.old.default.svc", "*.old.default", "10.0.0.1", "[2001:db8::1]"));
  EXPECT_FALSE(domains[0].alternate);
  EXPECT_TRUE(domains[2].alternate);
}

TEST(DomainSet, GivesADomainToTheFirstInAnyCase) {
  DomainSet set(2);
  const auto first = set.Claim({{"a.com"}, {"B.com"}});
  EXPECT_THAT(first, ElementsAre("a.com", "B.com"));
  EXPECT_THAT(set.Claim({{"A.com"}, {"c.com"}, {"C.com"}, {"b.com"}}), ElementsAre("c.com"));
}

TEST(DomainSet, KeepsRealNamesForTheirServices) {
  DomainSet set(2);
  set.AddRealName("foo.com");
  const auto first = set.Claim({{"foo.com.cluster.local"}, {"foo.com", true}});
  EXPECT_THAT(first, ElementsAre("foo.com.cluster.local"));
  EXPECT_THAT(set.Claim({{"foo.com"}}), ElementsAre("foo.com"));
}

TEST(HostAndPort, BracketsIpv6) {
  EXPECT_EQ(HostAndPort("a.com", 80), "a.com:80");
  EXPECT_EQ(HostAndPort("2001:db8::1", 80), "[2001:db8::1]:80");
}

}  // namespace
}  // namespace fairlead::gen::route
