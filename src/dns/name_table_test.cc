#include "dns/name_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "dns/message_fake.h"

namespace fairlead::dns {
namespace {

using testing::HasSubstr;

const SearchPath kShop{"shop", "shop.svc.cluster.local", {"shop.svc.cluster.local", "svc.cluster.local"}};

std::shared_ptr<const NameTable> Make(const std::vector<FakeHost>& hosts,
                                      const SearchPath& workload = kShop) {
  return NameTable::Make(MakeTable(hosts), workload).value();
}

// "10.0.0.1,fd00::1 -> target", or "unknown".
std::string Find(const NameTable& table, const std::string& name) {
  NameTable::Found found;
  if (!table.Find(*WireName(name), &found)) return "unknown";
  std::vector<std::string> texts;
  char text[64];
  for (size_t at = 0; at < found.v4.size(); at += 4)
    texts.emplace_back(inet_ntop(AF_INET, found.v4.data() + at, text, sizeof text));
  for (size_t at = 0; at < found.v6.size(); at += 16)
    texts.emplace_back(inet_ntop(AF_INET6, found.v6.data() + at, text, sizeof text));
  std::string all = Join(texts, ",");
  if (found.target.empty()) return all;
  char target[NS_MAXDNAME];
  ns_name_ntop(reinterpret_cast<const u_char*>(found.target.data()), target, sizeof target);
  return StrCat(all, " -> ", target);
}

TEST(DnsNameTableTest, ANameOfTheWorkloadsNamespaceHasItsShortForms) {
  const auto table = Make({{"web.shop.svc.cluster.local", {"10.0.0.1", "fd00::1"}, "Kubernetes"}});
  for (const char* name : {"web.shop.svc.cluster.local", "web.shop.svc", "web.shop", "web"})
    EXPECT_EQ(Find(*table, name), "10.0.0.1,fd00::1") << name;
  EXPECT_EQ(Find(*table, "web.shop.svc.cluster"), "unknown");
  EXPECT_EQ(Find(*table, "web.svc.cluster.local"), "unknown");
}

TEST(DnsNameTableTest, ANameOfAnotherNamespaceHasNoNameAlone) {
  const auto table = Make({{"db.data.svc.cluster.local", {"10.0.0.2"}, "Kubernetes"}});
  EXPECT_EQ(Find(*table, "db.data.svc"), "10.0.0.2");
  EXPECT_EQ(Find(*table, "db.data"), "10.0.0.2");
  EXPECT_EQ(Find(*table, "db"), "unknown");
}

TEST(DnsNameTableTest, ANameOfAnotherDomainHasNoShortForms) {
  const auto table = Make({{"db.data.svc.other.example", {"10.0.0.2"}, "Kubernetes"}});
  EXPECT_EQ(Find(*table, "db.data.svc.other.example"), "10.0.0.2");
  EXPECT_EQ(Find(*table, "db.data"), "unknown");
}

TEST(DnsNameTableTest, ANameExtendedByTheFirstSearchDomainIsAnAlias) {
  const auto table =
      Make({{"www.example.com", {"10.0.0.3"}}, {"db.data.svc.cluster.local", {"10.0.0.2"}, "Kubernetes"}});
  EXPECT_EQ(Find(*table, "www.example.com.shop.svc.cluster.local"), "10.0.0.3 -> www.example.com");
  EXPECT_EQ(Find(*table, "www.example.com.svc.cluster.local"), "unknown");
  EXPECT_EQ(Find(*table, "db.data.shop.svc.cluster.local"), "10.0.0.2 -> db.data");
}

TEST(DnsNameTableTest, AFullNameComesBeforeAnAliasOfItsText) {
  // "web" extended is another service's full name.
  const auto table =
      Make({{"web.shop.svc.cluster.local", {"10.0.0.1"}, "Kubernetes"}, {"web", {"10.0.0.9"}}});
  EXPECT_EQ(Find(*table, "web.shop.svc.cluster.local"), "10.0.0.1");
  EXPECT_EQ(Find(*table, "web"), "10.0.0.9");
}

TEST(DnsNameTableTest, AWildcardCountsBelowItsDomainAndTheClosestFirst) {
  const auto table = Make({{"*.example.com", {"10.0.0.1"}},
                           {"*.shop.example.com", {"10.0.0.2"}},
                           {"api.example.com", {"10.0.0.3"}}});
  EXPECT_EQ(Find(*table, "a.example.com"), "10.0.0.1");
  EXPECT_EQ(Find(*table, "a.b.example.com"), "10.0.0.1");
  EXPECT_EQ(Find(*table, "a.b.shop.example.com"), "10.0.0.2");
  EXPECT_EQ(Find(*table, "api.example.com"), "10.0.0.3");
  EXPECT_EQ(Find(*table, "example.com"), "unknown");
  EXPECT_EQ(Find(*table, "a.example.com.shop.svc.cluster.local"), "10.0.0.1 -> *.example.com");
  EXPECT_EQ(Find(*table, "com"), "unknown");
}

TEST(DnsNameTableTest, NamesAreInAnyCase) {
  EXPECT_EQ(Find(*Make({{"WWW.Example.com", {"10.0.0.3"}}}), "www.example.COM"), "10.0.0.3");
}

TEST(DnsNameTableTest, ANameWithADotAtItsEndIsTaken) {
  EXPECT_EQ(Find(*Make({{"www.example.com.", {"10.0.0.3"}}}), "www.example.com"), "10.0.0.3");
}

TEST(DnsNameTableTest, NamesWithoutUseAreCounted) {
  const auto table = Make({{"none.example.com", {"not an address"}},
                           {std::string(64, 'x') + ".example.com", {"10.0.0.1"}},
                           {"www.example.com", {"10.0.0.3", "also none"}}});
  EXPECT_EQ(table->useless(), 2u);
  EXPECT_THAT(table->first_useless(), HasSubstr("none.example.com: it has no address"));
  EXPECT_EQ(Find(*table, "www.example.com"), "10.0.0.3");
}

TEST(DnsNameTableTest, ABrokenOrTooLongMessageIsRefused) {
  const auto broken = NameTable::Make("\xff\xff\xff", kShop);
  EXPECT_EQ(broken.status().code(), absl::StatusCode::kInvalidArgument);
  const auto large = NameTable::Make(std::string(NameTable::kMostBytes + 1, '\0'), kShop);
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.status().message()), HasSubstr("33554433 bytes; most are 33554432"));
}

TEST(DnsNameTableTest, ThePageHasTheShortFormsToo) {
  const auto table = Make({{"web.shop.svc.cluster.local", {"10.0.0.1"}, "Kubernetes"}});
  const auto json = ParseJson(*table->ToJson()).value();
  const auto& names = json["table"];
  EXPECT_EQ(names.size(), 5u) << json;
  EXPECT_EQ(names["web.shop.svc.cluster.local"]["shortname"], "web");
  EXPECT_EQ(names["web.shop.svc."]["ips"][0], "10.0.0.1");
  EXPECT_EQ(names["web."]["registry"], "Kubernetes");
}

TEST(DnsNameTableTest, WithoutSearchDomainsThereAreNoAliases) {
  EXPECT_EQ(Make({{"www.example.com", {"10.0.0.3"}}}, {"shop", "svc.cluster.local", {}})->size(), 1u);
}

}  // namespace
}  // namespace fairlead::dns
