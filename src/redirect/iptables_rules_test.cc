#include "redirect/iptables_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "redirect/iptables_text.h"

namespace fairlead::redirect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RedirectOptions Sidecar() {
  RedirectOptions options;
  options.proxy_users = options.proxy_groups = "1337";
  options.inbound_ports = options.ranges = "*";
  options.excluded_inbound_ports = "15090,15021";
  return options;
}

// The rules of a chain, without its name.
std::vector<std::string> RulesOf(const std::vector<IptablesRule>& rules, std::string_view table,
                                 std::string_view chain) {
  std::vector<std::string> found;
  for (const IptablesRule& rule : rules) {
    if (rule.table == table && rule.chain == chain) found.push_back(Join(rule.words, " "));
  }
  return found;
}

IptablesRules Make(const RedirectOptions& options) {
  auto rules = MakeIptablesRules(options);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *std::move(rules) : IptablesRules();
}

TEST(IptablesRulesTest, ASidecarsTrafficGoesThroughIt) {
  const IptablesRules rules = Make(Sidecar());
  EXPECT_THAT(RulesOf(rules.v4, "nat", "ISTIO_INBOUND"),
              ElementsAre("-p tcp --dport 15008 -j RETURN", "-p tcp --dport 15090 -j RETURN",
                          "-p tcp --dport 15021 -j RETURN", "-p tcp -j ISTIO_IN_REDIRECT"));
  EXPECT_THAT(
      RulesOf(rules.v4, "nat", "ISTIO_OUTPUT"),
      ElementsAre(
          "-o lo -s 127.0.0.6/32 -j RETURN",
          "-o lo ! -d 127.0.0.1/32 -p tcp ! --dport 15008 -m owner --uid-owner 1337 -j ISTIO_IN_REDIRECT",
          "-o lo -m owner ! --uid-owner 1337 -j RETURN", "-m owner --uid-owner 1337 -j RETURN",
          "-o lo ! -d 127.0.0.1/32 -p tcp ! --dport 15008 -m owner --gid-owner 1337 -j ISTIO_IN_REDIRECT",
          "-o lo -m owner ! --gid-owner 1337 -j RETURN", "-m owner --gid-owner 1337 -j RETURN",
          "-d 127.0.0.1/32 -j RETURN", "-j ISTIO_REDIRECT"));
  EXPECT_THAT(rules.v6, IsEmpty());
}

TEST(IptablesRulesTest, RangesAreOfTheirVersion) {
  RedirectOptions options = Sidecar();
  options.ipv6 = true;
  options.ranges = "10.0.0.0/8,2001:db8::/32";
  options.excluded_ranges = "10.9.0.0/16";
  const IptablesRules rules = Make(options);
  EXPECT_THAT(
      RestoreText(rules.v4),
      HasSubstr(
          "-A ISTIO_OUTPUT -d 10.9.0.0/16 -j RETURN\n-A ISTIO_OUTPUT -d 10.0.0.0/8 -j ISTIO_REDIRECT\n"));
  EXPECT_THAT(RestoreText(rules.v4), Not(HasSubstr("2001")));
  EXPECT_THAT(RestoreText(rules.v6), HasSubstr("-A ISTIO_OUTPUT -d 2001:db8::/32 -j ISTIO_REDIRECT\n"));
  EXPECT_THAT(RestoreText(rules.v6), Not(HasSubstr("10.")));
}

TEST(IptablesRulesTest, ARangeOnLoopbackLetsTheWorkloadReachTheProxyByIt) {
  RedirectOptions options = Sidecar();
  options.ranges = "127.1.2.3/32";
  EXPECT_THAT(RestoreText(Make(options).v4), Not(HasSubstr("! --uid-owner")));
}

TEST(IptablesRulesTest, NoGroupsMeanNoOutboundRedirection) {
  RedirectOptions options = Sidecar();
  options.owner_groups = "";
  EXPECT_THAT(RestoreText(Make(options).v4), HasSubstr("-A ISTIO_OUTPUT -j RETURN\n"));
  options.owner_groups = "101,102";
  EXPECT_THAT(RestoreText(Make(options).v4),
              HasSubstr("-m owner ! --gid-owner 101 -m owner ! --gid-owner 102 -j RETURN\n"));
}

TEST(IptablesRulesTest, DnsOfNameserversOrAllOfIt) {
  RedirectOptions options = Sidecar();
  options.redirect_dns = true;
  EXPECT_THAT(RestoreText(Make(options).v4), Not(HasSubstr("53 ")));
  options.resolvers_v4 = {"10.96.0.10"};
  EXPECT_THAT(RulesOf(Make(options).v4, "nat", "ISTIO_OUTPUT_DNS"),
              ElementsAre("-p tcp --dport 53 -d 10.96.0.10/32 -j REDIRECT --to-ports 15053",
                          "-p udp --dport 53 -d 10.96.0.10/32 -j REDIRECT --to-ports 15053"));
  options.capture_all_dns = true;
  EXPECT_THAT(RulesOf(Make(options).v4, "nat", "ISTIO_OUTPUT_DNS"),
              ElementsAre("-p tcp --dport 53 -j REDIRECT --to-ports 15053",
                          "-p udp --dport 53 -j REDIRECT --to-ports 15053"));
}

TEST(IptablesRulesTest, WrongRangesAreNamed) {
  RedirectOptions options = Sidecar();
  options.ranges = "10.0.0.0/33";
  EXPECT_THAT(std::string(FromAbsl(MakeIptablesRules(options).status().message())),
              HasSubstr("--istio-service-cidr: \"10.0.0.0/33\""));
  options = Sidecar();
  options.excluded_ranges = "*";
  EXPECT_THAT(std::string(FromAbsl(MakeIptablesRules(options).status().message())),
              HasSubstr("--istio-service-exclude-cidr"));
}

TEST(RestoreTextTest, ChainsComeBeforeRulesAndAreMadeOnce) {
  const std::vector<IptablesRule> rules = {{"nat", "OUTPUT", 0, {"-j", "ISTIO_OUTPUT"}},
                                           {"mangle", "ISTIO_INBOUND", 2, {"-p", "tcp", "-j", "RETURN"}},
                                           {"nat", "OUTPUT", 0, {"-p", "udp", "-j", "ISTIO_OUTPUT"}}};
  EXPECT_EQ(RestoreText(rules),
            "*mangle\n-N ISTIO_INBOUND\n-I ISTIO_INBOUND 2 -p tcp -j RETURN\nCOMMIT\n"
            "*nat\n-N ISTIO_OUTPUT\n-A OUTPUT -j ISTIO_OUTPUT\n-A OUTPUT -p udp -j ISTIO_OUTPUT\nCOMMIT\n");
  EXPECT_EQ(RestoreText({}), "");
}

TEST(RestoreTextTest, CleanUpDeletesJumpsFirstThenChains) {
  const std::vector<IptablesRule> rules = {{"nat", "ISTIO_A", 0, {"-p", "tcp", "-j", "RETURN"}},
                                           {"nat", "ISTIO_A", 0, {"-j", "ISTIO_B"}},
                                           {"nat", "OUTPUT", 1, {"-j", "ISTIO_A"}}};
  std::vector<std::string> commands;
  for (const Words& words : CleanUpCommands(rules)) commands.push_back(Join(words, " "));
  EXPECT_THAT(commands, ElementsAre("-t nat -D OUTPUT -j ISTIO_A", "-t nat -D ISTIO_A -j ISTIO_B",
                                    "-t nat -F ISTIO_A", "-t nat -X ISTIO_A"));
}

TEST(ChainStateTest, AsSavedAndAsRestored) {
  const ChainState expected =
      ParseState("*nat\n-N ISTIO_A\n-A OUTPUT -j ISTIO_A\n-A ISTIO_A -j RETURN\nCOMMIT\n");
  const std::string head = "# by iptables-save\n*nat\n:OUTPUT ACCEPT [0:0]\n:ISTIO_A - [0:0]\n";
  EXPECT_TRUE(
      HasSameChains(ParseState(head + "-A OUTPUT -j ISTIO_A\n-A ISTIO_A -j RETURN\nCOMMIT\n"), expected));
  // Other rules of built-in chains are somebody else's.
  EXPECT_TRUE(HasSameChains(ParseState(head + "-A OUTPUT -j X\n-A OUTPUT -j ISTIO_A\n-A ISTIO_A -j RETURN\n"),
                            expected));
  EXPECT_FALSE(HasSameChains(ParseState(head + "-A OUTPUT -j ISTIO_A\n"), expected));
  EXPECT_FALSE(HasSameChains(
      ParseState(head + ":ISTIO_B - [0:0]\n-A OUTPUT -j ISTIO_A\n-A ISTIO_A -j RETURN\n"), expected));
  EXPECT_FALSE(HasSameChains(ParseState(""), expected));
}

}  // namespace
}  // namespace fairlead::redirect
