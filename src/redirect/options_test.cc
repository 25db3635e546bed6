#include "redirect/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string WriteTestFile(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "/redirect_" + name;
  std::ofstream(path) << text;
  return path;
}

RedirectOptions Filled(RedirectOptions options, const AddressSources& sources) {
  const absl::Status status = FillIn(sources, &options);
  EXPECT_TRUE(status.ok()) << status;
  return options;
}

TEST(FillIn, TheFirstAddressThatOthersReachDecides) {
  const RedirectOptions v4 =
      Filled({}, {.addresses = {"127.0.0.1", "169.254.0.1", "10.1.2.3", "2001:db8::3"}});
  EXPECT_EQ(v4.address->ToString(), "10.1.2.3");
  EXPECT_FALSE(v4.ipv6);
  EXPECT_TRUE(Filled({}, {.addresses = {"::1", "fe80::1", "2001:db8::3"}}).ipv6);
}

TEST(FillIn, DualStackLooksForIpv6BehindIpv4) {
  RedirectOptions dual;
  dual.dual_stack = true;
  EXPECT_TRUE(Filled(dual, {.addresses = {"10.1.2.3", "2001:db8::3"}}).ipv6);
  EXPECT_EQ(Filled(dual, {.addresses = {"10.1.2.3", "2001:db8::3"}}).address->ToString(), "10.1.2.3");
  EXPECT_FALSE(Filled(dual, {.addresses = {"10.1.2.3", "10.1.2.4"}}).ipv6);
}

TEST(FillIn, WithoutAnAddressThereAreNoRules) {
  RedirectOptions options;
  EXPECT_EQ(FillIn({.addresses = {"127.0.0.1", "fe80::1"}}, &options).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(FillIn, TheProxysUserIsGivenOrKnownOr1337) {
  const std::string users =
      WriteTestFile("passwd", "root:x:0:0::/:/bin/sh\nistio-proxy:x:2222:2::/:/bin/sh\n");
  RedirectOptions given;
  given.proxy_users = "5";
  EXPECT_EQ(Filled(given, {.addresses = {"10.1.2.3"}, .user_file = users}).proxy_groups, "5");
  EXPECT_EQ(Filled({}, {.addresses = {"10.1.2.3"}, .user_file = users}).proxy_users, "2222");
  EXPECT_EQ(Filled({}, {.addresses = {"10.1.2.3"}, .user_file = users, .proxy_user = "no"}).proxy_users,
            "1337");
}

TEST(FillIn, NameserversAreReadWhereTheyMatter) {
  const std::string file = WriteTestFile(
      "resolv",
      "# nameserver 1.1.1.1\nsearch a\nnameserver\t10.96.0.10 x\nnameserver fd00::10\nnameserver bad\n");
  const AddressSources sources{.addresses = {"10.1.2.3"}, .resolver_file = file};
  RedirectOptions dns;
  dns.redirect_dns = true;
  EXPECT_THAT(Filled(dns, sources).resolvers_v4, ElementsAre("10.96.0.10"));
  EXPECT_THAT(Filled(dns, sources).resolvers_v6, ElementsAre("fd00::10"));
  EXPECT_TRUE(CapturesDns(Filled(dns, sources)));
  dns.capture_all_dns = true;
  EXPECT_THAT(Filled(dns, {.addresses = {"10.1.2.3"}, .resolver_file = "/none"}).resolvers_v4, IsEmpty());
  dns.capture_all_dns = false;
  EXPECT_FALSE(FillIn({.addresses = {"10.1.2.3"}, .resolver_file = "/none"}, &dns).ok());
}

std::string CheckError(std::string RedirectOptions::*member, const std::string& value) {
  RedirectOptions options;
  options.*member = value;
  const absl::Status status = Check(options);
  return status.ok() ? "" : std::string(FromAbsl(status.message()));
}

TEST(CheckOptions, AValueIsNoMoreThanAWord) {
  EXPECT_EQ(CheckError(&RedirectOptions::inbound_ports, "80, 90,,http"), "");
  EXPECT_THAT(CheckError(&RedirectOptions::inbound_ports, "80 -j ACCEPT"),
              HasSubstr("--istio-inbound-ports"));
  EXPECT_THAT(CheckError(&RedirectOptions::excluded_interfaces, "a\nCOMMIT"), HasSubstr("no single word"));
  EXPECT_THAT(CheckError(&RedirectOptions::outbound_port, "1;flush"), HasSubstr("no single word"));
}

TEST(CheckOptions, GroupsBinaryAndLoopback) {
  std::string groups = "0";
  for (int i = 1; i < 65; ++i) StrAppend(&groups, ",", i);
  EXPECT_THAT(CheckError(&RedirectOptions::owner_groups, groups), HasSubstr("65 groups"));
  EXPECT_THAT(CheckError(&RedirectOptions::forced_binary, "other"), HasSubstr("neither legacy nor nft"));
  EXPECT_THAT(CheckError(&RedirectOptions::loopback_range, "10.0.0.0/8"), HasSubstr("127.0.0.0/8"));
  EXPECT_THAT(CheckError(&RedirectOptions::loopback_range, "127.0.0.0/7"), HasSubstr("127.0.0.0/8"));
  EXPECT_EQ(CheckError(&RedirectOptions::loopback_range, "127.0.0.0/8"), "");
}

TEST(ParseRanges, OfBothVersions) {
  const auto ranges = ParseRanges("--f", "10.0.0.0/8,,2001:db8::/32,127.0.0.1/32");
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(ranges->v4.size(), 2U);
  EXPECT_EQ(ranges->v6.size(), 1U);
  EXPECT_TRUE(ranges->has_loopback);
  EXPECT_TRUE(ParseRanges("--f", "*")->all);
  EXPECT_THAT(std::string(FromAbsl(ParseRanges("--f", "10.0.0.1").status().message())),
              HasSubstr("--f: \"10.0.0.1\""));
}

}  // namespace
}  // namespace fairlead::redirect
