#include "redirect/iptables_apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/strings.h"
#include "redirect/iptables_text.h"
#include "redirect/run.h"

namespace fairlead::redirect {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A system with the programs for nftables: what it was asked, and what it answers.
struct System {
  std::map<std::string, ProgramResult> answers;  // by the beginning of a call
  std::vector<std::string> calls;

  RunProgram Run() {
    return [this](const ProgramCall& call) {
      const std::string text = Join(call.words, " ");
      calls.push_back(text);
      // The longest beginning comes last.
      for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer) {
        if (text.starts_with(answer->first)) return answer->second;
      }
      if (text.find("-legacy") != std::string::npos)
        return ProgramResult{ProgramResult::kNotRun, "", "no such program"};
      if (text.ends_with("--version")) return ProgramResult{0, "iptables-save v1.8.9 (nf_tables)", ""};
      return ProgramResult{0, "", ""};
    };
  }

  // The tables for nftables.
  void Save(std::string text) {
    answers["iptables-nft-save"] = {0, std::move(text), ""};
    answers["iptables-nft-save --version"] = {0, "iptables-save v1.8.9 (nf_tables)", ""};
  }

  std::vector<std::string> Having(std::string_view part) const {
    std::vector<std::string> found;
    for (const std::string& call : calls) {
      if (call.find(part) != std::string::npos) found.push_back(call);
    }
    return found;
  }
};

RedirectOptions Small() {
  RedirectOptions options;
  options.proxy_users = "1337";
  options.ranges = "*";
  return options;
}

std::string Saved(const RedirectOptions& options) { return RestoreText(MakeIptablesRules(options)->v4); }

TEST(ApplyIptables, RestoresOnceIntoAnEmptyNamespace) {
  System system;
  ASSERT_TRUE(ApplyIptables(Small(), system.Run()).ok());
  EXPECT_THAT(system.Having("-restore"), ElementsAre("iptables-nft-restore --noflush"));
}

TEST(ApplyIptables, DoesNothingWhereTheRulesAre) {
  System system;
  system.Save(Saved(Small()));
  ASSERT_TRUE(ApplyIptables(Small(), system.Run()).ok());
  EXPECT_THAT(system.Having("-restore"), IsEmpty());
  RedirectOptions forced = Small();
  forced.force = true;
  ASSERT_TRUE(ApplyIptables(forced, system.Run()).ok());
  EXPECT_EQ(system.Having("-restore").size(), 1U);
}

TEST(ApplyIptables, ReconcileReplacesBehindGuards) {
  RedirectOptions before = Small(), after = Small();
  before.excluded_outbound_ports = "5432";
  after.reconcile = true;
  System system;
  system.Save(Saved(before));
  ASSERT_TRUE(ApplyIptables(after, system.Run()).ok());
  const std::string all = Join(system.calls, "\n");
  const size_t guard = all.find("-I INPUT -p tcp -j DROP"), flush = all.find("-F ISTIO_OUTPUT");
  const size_t restore = all.find("-restore"), unguard = all.rfind("-D INPUT -p tcp -j DROP");
  EXPECT_LT(guard, flush);
  EXPECT_LT(flush, restore);
  EXPECT_LT(restore, unguard);
}

TEST(ApplyIptables, AFailedProgramIsQuotedAndGuardsGo) {
  RedirectOptions options = Small();
  options.reconcile = true;
  System system;
  system.Save("*nat\n-A OUTPUT -j X\n");
  system.answers["iptables-nft-restore"] = {1, "", "line 2 failed\n"};
  const absl::Status status = ApplyIptables(options, system.Run());
  EXPECT_EQ(std::string(FromAbsl(status.message())), "iptables-nft-restore: line 2 failed");
  EXPECT_THAT(system.calls.back(), HasSubstr("-D OUTPUT -p udp -j DROP"));
}

TEST(ApplyIptables, LegacyIsUsedWhereItHasTablesAndWaitsForItsLock) {
  System system;
  system.answers["iptables-legacy-save"] = {0, "*nat\n:A\nCOMMIT\n", ""};
  system.answers["iptables-legacy-save --version"] = {0, "iptables-save v1.8.9 (legacy)", ""};
  system.answers["iptables-legacy "] = {0, "", ""};
  system.answers["iptables-legacy-restore"] = {0, "", ""};
  ASSERT_TRUE(ApplyIptables(Small(), system.Run()).ok());
  EXPECT_THAT(system.Having("-restore"), ElementsAre("iptables-legacy-restore --noflush --wait=30"));
}

TEST(ApplyIptables, WithoutIpv6ItsProgramsMayBeMissing) {
  System system;
  system.answers["ip6tables"] = {ProgramResult::kNotRun, "", "there is no such program"};
  EXPECT_TRUE(ApplyIptables(Small(), system.Run()).ok());
  RedirectOptions v6 = Small();
  v6.ipv6 = true;
  EXPECT_THAT(std::string(FromAbsl(ApplyIptables(v6, system.Run()).message())), HasSubstr("ip6tables"));
}

TEST(ApplyIptables, CleanUpRestoresNothing) {
  RedirectOptions options = Small();
  options.clean_up = true;
  System system;
  ASSERT_TRUE(ApplyIptables(options, system.Run()).ok());
  EXPECT_THAT(system.Having("-restore"), IsEmpty());
  EXPECT_THAT(system.calls, Contains("iptables-nft -t nat -X ISTIO_OUTPUT"));
}

TEST(VerifyIptables, NamesTheFirstMissingRule) {
  System system;
  EXPECT_EQ(VerifyIptables(Small(), system.Run()).code(), absl::StatusCode::kNotFound);
  system.Save("1\n2\n3\n");
  EXPECT_TRUE(VerifyIptables(Small(), system.Run()).ok());
  system.answers["iptables-nft -t nat -C OUTPUT"] = {1, "", "no"};
  system.answers["iptables -t nat -C OUTPUT"] = {1, "", "no"};
  EXPECT_THAT(std::string(FromAbsl(VerifyIptables(Small(), system.Run()).message())),
              HasSubstr("-t nat -A OUTPUT -j ISTIO_OUTPUT"));
}

TEST(DescribeRedirectTest, IsTheProgramsAndTheirInput) {
  RedirectOptions options = Small();
  EXPECT_THAT(*DescribeRedirect(options), HasSubstr("iptables-restore --noflush\n*nat\n-N ISTIO_INBOUND\n"));
  options.clean_up = true;
  EXPECT_THAT(*DescribeRedirect(options), HasSubstr("iptables -t nat -X ISTIO_OUTPUT\n"));
  options.native_nftables = true;
  EXPECT_THAT(*DescribeRedirect(options),
              HasSubstr("nft -f -\nadd table inet istio-proxy-nat\ndelete table"));
}

}  // namespace
}  // namespace fairlead::redirect
