#include "dns/resolver_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/strings.h"

namespace fairlead::dns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Servers(const ResolverFile& file) {
  std::vector<std::string> all;
  for (const SocketAddress& address : file.servers) all.push_back(address.ToString());
  return all;
}

TEST(ResolverFileTest, ServersAndTheLastListOfDomainsCount) {
  const ResolverFile file = ParseResolverFile(
      "# comment\n; another\ndomain first.example\nnameserver 10.96.0.10\n"
      "search shop.svc.Cluster.local svc.cluster.local. \t cluster.local\r\n"
      "nameserver fd00::a  \nnameserver\t10.0.0.2\nnameserver 10.0.0.3\noptions ndots:5\n");
  EXPECT_THAT(Servers(file), ElementsAre("10.96.0.10:53", "[fd00::a]:53", "10.0.0.2:53", "10.0.0.3:53"));
  EXPECT_THAT(file.search, ElementsAre("shop.svc.cluster.local", "svc.cluster.local", "cluster.local"));
  EXPECT_THAT(ParseResolverFile("search a b\ndomain c d\n").search, ElementsAre("c"));
}

TEST(ResolverFileTest, WhatIsNoAddressIsToldAndNumbersAreBounded) {
  EXPECT_THAT(ParseResolverFile("nameserver dns.example\n").not_servers, ElementsAre("dns.example"));
  std::string text = "search";
  for (int i = 0; i < 1000; ++i) StrAppend(&text, " d", i);
  for (int i = 0; i < 1000; ++i) StrAppend(&text, "\nnameserver 10.0.0.", i % 200);
  for (int i = 0; i < 1000; ++i) StrAppend(&text, "\nnameserver x", i);
  const ResolverFile file = ParseResolverFile(text);
  EXPECT_EQ(file.servers.size(), 16u);
  EXPECT_EQ(file.search.size(), 32u);
  EXPECT_LE(file.not_servers.size(), 16u);
}

TEST(ResolverFileTest, AFileIsReadOrTheReasonIsSaid) {
  const std::string path = StrCat(testing::TempDir(), "/resolv-", getpid());
  EXPECT_EQ(ReadResolverFile(path).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(path, "nameserver 10.0.0.1\n").ok());
  EXPECT_THAT(Servers(*ReadResolverFile(path)), ElementsAre("10.0.0.1:53"));
  EXPECT_THAT(ReadResolverFile(path)->search, IsEmpty());
  unlink(path.c_str());
}

}  // namespace
}  // namespace fairlead::dns
