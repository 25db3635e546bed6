#include "redirect/nft_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using testing::HasSubstr;
using testing::Not;

RedirectOptions Nft() {
  RedirectOptions options;
  options.proxy_users = options.proxy_groups = "1337";
  options.inbound_ports = options.ranges = "*";
  options.native_nftables = true;
  return options;
}

TEST(NftScript, OnlyTablesAndChainsWithRules) {
  const std::string script = *MakeNftScript(Nft());
  EXPECT_THAT(
      script,
      HasSubstr("add table inet istio-proxy-nat\nflush table inet istio-proxy-nat\n"
                "add chain inet istio-proxy-nat prerouting { type nat hook prerouting priority -100 ; }\n"));
  EXPECT_THAT(
      script,
      HasSubstr(
          "add rule inet istio-proxy-nat istio-in-redirect meta l4proto tcp counter redirect to :15006\n"));
  EXPECT_THAT(script, Not(HasSubstr("istio-output-dns")));
  EXPECT_THAT(script, Not(HasSubstr("istio-proxy-mangle")));
  EXPECT_THAT(script, Not(HasSubstr("ip6 ")));
}

TEST(NftScript, RulesAreInsertedBeforeOthersAloneThatAreThere) {
  RedirectOptions options = Nft();
  options.virtual_interfaces = "net1,net2";
  const std::string script = *MakeNftScript(options);
  EXPECT_THAT(script,
              HasSubstr("add rule inet istio-proxy-nat prerouting iifname net1 counter return\n"
                        "insert rule inet istio-proxy-nat prerouting index 0 iifname net2 counter return\n"));
}

TEST(NftScript, BothVersionsWithTproxy) {
  RedirectOptions options = Nft();
  options.ipv6 = true;
  options.mode = "TPROXY";
  const std::string script = *MakeNftScript(options);
  EXPECT_THAT(script,
              HasSubstr("ip daddr != 127.0.0.1/32 tproxy ip to :15006 meta mark set 1337 counter accept\n"));
  EXPECT_THAT(script,
              HasSubstr("ip6 daddr != ::1/128 tproxy ip6 to :15006 meta mark set 1337 counter accept\n"));
  EXPECT_THAT(script, HasSubstr("insert rule inet istio-proxy-mangle istio-inbound index 1 iifname lo meta "
                                "l4proto tcp ip6 saddr ::6/128 "));
}

TEST(NftScript, CleanUpDeletesTheTablesWhetherOrNotTheyAreThere) {
  RedirectOptions options = Nft();
  options.clean_up = true;
  EXPECT_EQ(*MakeNftScript(options),
            "add table inet istio-proxy-nat\ndelete table inet istio-proxy-nat\n"
            "add table inet istio-proxy-mangle\ndelete table inet istio-proxy-mangle\n"
            "add table inet istio-proxy-raw\ndelete table inet istio-proxy-raw\n");
}

TEST(NftScript, IsAppliedByNftAndVerifiedByItsList) {
  std::string input;
  const RunProgram refuse = [&](const ProgramCall& call) {
    input = call.input;
    return ProgramResult{1, "", "Error: no"};
  };
  EXPECT_EQ(std::string(FromAbsl(ApplyNft(Nft(), refuse).message())), "nft: Error: no");
  EXPECT_EQ(input, *MakeNftScript(Nft()));
  const RunProgram few = [](const ProgramCall&) {
    return ProgramResult{0, "counter packets 0 accept\n", ""};
  };
  EXPECT_THAT(std::string(FromAbsl(VerifyNft(Nft(), few).message())), HasSubstr("has 1 rules"));
}

}  // namespace
}  // namespace fairlead::redirect
