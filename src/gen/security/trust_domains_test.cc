#include "gen/security/trust_domains.h"

#include <gmock/gmock.h>

#include <vector>

namespace fairlead::gen::security {
namespace {

using testing::ElementsAre;

const std::vector<std::string>& Domains() {
  static const auto* domains = new std::vector<std::string>{"new-td", "old-td", "other"};
  return *domains;
}
Values Principals(const std::string& principal) {
  Values values;
  *values.Add() = principal;
  return PrincipalsWithAliases(values, Domains());
}

TEST(TrustDomains, APrincipalOfTheMeshStandsForAllDomains) {
  const auto all = ElementsAre("new-td/ns/a/sa/b", "old-td/ns/a/sa/b", "other/ns/a/sa/b");
  EXPECT_THAT(Principals("new-td/ns/a/sa/b"), all);
  EXPECT_THAT(Principals("other/ns/a/sa/b"), all);
  EXPECT_THAT(Principals("cluster.local/ns/a/sa/b"), all);
}

TEST(TrustDomains, APatternStaysForTheDomainsThatItCovers) {
  EXPECT_THAT(Principals("*-td/ns/a/sa/b"), ElementsAre("*-td/ns/a/sa/b", "other/ns/a/sa/b"));
  EXPECT_THAT(Principals("new*/ns/a/sa/b"),
              ElementsAre("new-td/ns/a/sa/b", "old-td/ns/a/sa/b", "other/ns/a/sa/b"));
}

TEST(TrustDomains, OtherPrincipalsStay) {
  for (const char* principal : {"*", "*/ns/a/sa/b", "foreign/ns/a/sa/b", "td/ns/a*", "*/sa/b"}) {
    EXPECT_THAT(Principals(principal), ElementsAre(principal));
  }
}

TEST(TrustDomains, ANameOfTheMeshStandsForAllDomains) {
  Values names;
  for (const char* name : {"foreign", "old-td", "old*"}) *names.Add() = name;
  EXPECT_THAT(TrustDomainsWithAliases(names, Domains()),
              ElementsAre("foreign", "new-td", "old-td", "other", "old*"));
}

}  // namespace
}  // namespace fairlead::gen::security
