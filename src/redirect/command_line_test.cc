#include "redirect/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RedirectCall Read(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  auto call = ReadCall(arguments, variables);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? *std::move(call) : RedirectCall();
}

std::string Error(const std::vector<std::string>& arguments) {
  const auto call = ReadCall(arguments, {});
  return call.ok() ? "" : std::string(FromAbsl(call.status().message()));
}

TEST(ReadCall, FlagsInEachSpelling) {
  EXPECT_EQ(Read({"-p", "1"}).options.outbound_port, "1");
  EXPECT_EQ(Read({"-p1"}).options.outbound_port, "1");
  EXPECT_EQ(Read({"-p=1"}).options.outbound_port, "1");
  EXPECT_EQ(Read({"--envoy-port", "1"}).options.outbound_port, "1");
  EXPECT_EQ(Read({"--envoy-port=1"}).options.outbound_port, "1");
  EXPECT_EQ(Read({"-np", "1"}).options.outbound_port, "1");
  EXPECT_TRUE(Read({"-np", "1"}).options.dry_run);
  EXPECT_EQ(Read({"-x", ""}).options.excluded_ranges, "");
  EXPECT_EQ(Read({"-b", "80", "-b", "*"}).options.inbound_ports, "*");
}

TEST(ReadCall, SwitchesNeedNoValueAndTakeGosWords) {
  EXPECT_TRUE(Read({"--redirect-dns"}).options.redirect_dns);
  EXPECT_TRUE(Read({"--redirect-dns=T"}).options.redirect_dns);
  EXPECT_FALSE(Read({"--redirect-dns", "--redirect-dns=false"}).options.redirect_dns);
  EXPECT_THAT(Error({"--redirect-dns=yes"}), HasSubstr("neither true nor false"));
}

TEST(ReadCall, FlagsWinOverVariablesAndTheOtherVariableOverTheFirst) {
  const Variables variables = {
      {"ISTIO_INBOUND_PORTS", "80"}, {"REDIRECT_DNS", "false"}, {"ISTIO_META_DNS_CAPTURE", "true"}};
  EXPECT_EQ(Read({}, variables).options.inbound_ports, "80");
  EXPECT_EQ(Read({"-b", "90"}, variables).options.inbound_ports, "90");
  EXPECT_TRUE(Read({}, variables).options.redirect_dns);
  EXPECT_EQ(Read({}, {{"ENVOY_PORT", "1"}}).options.outbound_port, "15001");
  EXPECT_EQ(Read({}, {{"ISTIO_OUTBOUND_OWNER_GROUPS", ""}}).options.owner_groups, "");
}

TEST(ReadCall, AVariableWithAWrongValueIsRemarkedUpon) {
  const RedirectCall call = Read({}, {{"DUAL_STACK", "yes"}, {"IPTABLES_PROBE_PORT", "70000"}});
  EXPECT_FALSE(call.options.dual_stack);
  EXPECT_EQ(call.options.probe_port, 15002);
  EXPECT_THAT(call.remarks,
              ElementsAre(HasSubstr("IPTABLES_PROBE_PORT: \"70000\""), HasSubstr("DUAL_STACK: \"yes\"")));
}

TEST(ReadCall, ASwitchWithAWrongValueIsOff) {
  EXPECT_FALSE(Read({}, {{"REDIRECT_DNS", "true"}, {"ISTIO_META_DNS_CAPTURE", ""}}).options.redirect_dns);
  EXPECT_TRUE(Read({"--redirect-dns"}, {{"ISTIO_META_DNS_CAPTURE", "yes"}}).options.redirect_dns);
}

TEST(ReadCall, MistakesNameTheFlag) {
  EXPECT_THAT(Error({"--envoy-prot", "1"}), HasSubstr("did you mean --envoy-port?"));
  EXPECT_THAT(Error({"-Z"}), HasSubstr("-Z: there is no such flag"));
  EXPECT_THAT(Error({"-p"}), HasSubstr("-p: a value must follow"));
  EXPECT_THAT(Error({"--probe-timeout=5"}), HasSubstr("no duration"));
  EXPECT_THAT(Error({"--iptables-probe-port=70000"}), HasSubstr("no port"));
  EXPECT_THAT(Read({"word", "-p", "1"}).remarks, ElementsAre(HasSubstr("word")));
}

TEST(ReadCall, TheLogsFlagsOfEveryCommandAreTaken) {
  const RedirectCall call = Read({"--vklog=2", "--log_stacktrace_level", "default:none", "-p", "1"});
  EXPECT_EQ(call.options.outbound_port, "1");
  EXPECT_THAT(call.remarks, ElementsAre());
}

TEST(ReadCall, UsageNamesEachFlag) {
  EXPECT_TRUE(Read({"--help"}).help);
  EXPECT_THAT(IptablesUsage(), HasSubstr("-p, --envoy-port"));
  EXPECT_THAT(IptablesUsage(), HasSubstr("ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE"));
}

}  // namespace
}  // namespace fairlead::redirect
