#include "agent/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace fairlead::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr char kInitDump[] = R"({"unready_targets_dumps": [
  {"name": "init manager Server", "target_names": ["target LDS"]},
  {"name": "init manager Listener-local-init-manager virtualInbound 1",
   "target_names": ["target SdsApi default", "target SdsApi ROOTCA"]}]})";

TEST(WaitingFor, NamesTargetsAndSecrets) {
  EXPECT_EQ(WaitingFor("control_plane.connected_state: 1\n", kInitDump, "xds:15010"),
            "LDS (init manager Server); the secret default, the secret ROOTCA (listener virtualInbound)");
  EXPECT_EQ(WaitingFor("control_plane.connected_state: 0\n", R"({"unready_targets_dumps": []})", "xds:15010"),
            "a connection to the control plane at xds:15010");
}

TEST(WaitingFor, WhatCannotBeReadSaysNothing) {
  for (const char* dump :
       {"", "{", "[]", R"({"unready_targets_dumps": 1})", R"({"unready_targets_dumps": [1]})",
        R"({"unready_targets_dumps": [{"target_names": [1]}]})"})
    EXPECT_EQ(WaitingFor("", dump, "xds"), "") << dump;
}

class ReadinessTest : public testing::Test {
 protected:
  Readiness readiness_{[this](const std::string& path) -> absl::StatusOr<std::string> {
                         const auto page = pages_.find(path);
                         if (page == pages_.end()) return absl::UnavailableError("503");
                         return page->second;
                       },
                       "xds:15010", [this] { return known_; }};
  std::vector<std::string> known_;
  std::map<std::string, std::string> pages_;
};

TEST_F(ReadinessTest, TellsAfterSecondsThenNowAndThen) {
  pages_["/init_dump"] = kInitDump;
  EXPECT_EQ(readiness_.Look(seconds(1)), "");
  const std::string told = readiness_.Look(seconds(2));
  EXPECT_THAT(told,
              HasSubstr("not ready after 2 s. It waits for: LDS (init manager Server); the secret default"));
  EXPECT_THAT(told, HasSubstr("PeerAuthentication of mode DISABLE"));
  EXPECT_EQ(readiness_.Look(seconds(29)), "");
  EXPECT_NE(readiness_.Look(seconds(30)), "");
  EXPECT_EQ(readiness_.Look(seconds(300)), "");
  EXPECT_NE(readiness_.Look(seconds(331)), "");
  EXPECT_FALSE(readiness_.ready());
  pages_["/ready"] = "LIVE\n";
  EXPECT_EQ(readiness_.Look(seconds(340)), "Envoy is ready after 340 s");
  EXPECT_TRUE(readiness_.ready());
}

TEST_F(ReadinessTest, IsSilentWhereAllIsWell) {
  pages_["/ready"] = "LIVE\n";
  EXPECT_EQ(readiness_.Look(seconds(1)), "");
  EXPECT_TRUE(readiness_.ready());
}

TEST_F(ReadinessTest, AnEnvoyThatDoesNotAnswer) {
  EXPECT_THAT(readiness_.Look(seconds(6)), HasSubstr("Its administration port does not answer"));
}

TEST_F(ReadinessTest, TellsWhatTheAgentItselfKnows) {
  pages_["/init_dump"] = kInitDump;
  known_ = {"/nosuch.pem: No such file or directory"};
  const std::string told = readiness_.Look(seconds(2));
  EXPECT_THAT(told, HasSubstr("The agent's own difficulties: /nosuch.pem: No such file"));
  EXPECT_THAT(told, testing::Not(HasSubstr("PeerAuthentication"))) << "no guess where the cause is known";
}

}  // namespace
}  // namespace fairlead::agent
