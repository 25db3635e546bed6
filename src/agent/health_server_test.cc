#include "agent/health_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::agent {
namespace {

using testing::HasSubstr;

class HealthTest : public testing::Test {
 protected:
  HealthTest() {
    Update(1, 1);
    pages_["/ready"] = "LIVE\n";
  }
  // What Envoy says of its updates.
  void Update(int clusters, int listeners) {
    pages_["/stats"] = "cluster_manager.cds.update_success: " + std::to_string(clusters) +
                       "\nlistener_manager.lds.update_success: " + std::to_string(listeners) + "\n";
  }
  std::string WhyNot() {
    std::this_thread::sleep_for(std::chrono::milliseconds(101));  // what was found before is too old then
    return std::string(health_.Check().message());
  }

  std::map<std::string, std::string> pages_;
  int asked_ = 0;
  HealthServer health_{[this](const std::string& path) -> absl::StatusOr<std::string> {
                         ++asked_;
                         const auto page = pages_.find(path.substr(0, path.find('?')));
                         if (page == pages_.end()) return absl::UnavailableError("503");
                         return page->second;
                       },
                       "xds:15012", [] { return std::vector<std::string>{"no certificate: x"}; }};
};

TEST_F(HealthTest, FollowsEnvoysLife) {
  EXPECT_EQ(WhyNot(), "Envoy does not run");
  EXPECT_EQ(asked_, 0) << "somebody else may have the port";
  health_.Set(HealthServer::kRuns);
  EXPECT_EQ(WhyNot(), "");
  pages_.erase("/ready");
  EXPECT_THAT(WhyNot(), HasSubstr("Envoy is not ready. The agent's own difficulties: no certificate: x"));
  pages_["/ready"] = "LIVE\n";
  health_.Set(HealthServer::kStops);
  EXPECT_THAT(WhyNot(), HasSubstr("drains its listeners"));
}

TEST_F(HealthTest, AnEnvoyThatTookNoListenersIsNotConfigured) {
  health_.Set(HealthServer::kRuns);
  Update(1, 0);
  EXPECT_THAT(WhyNot(), HasSubstr("refused its first listeners or clusters"));
  Update(0, 10);
  EXPECT_NE(WhyNot(), "");
  Update(10, 3);
  EXPECT_EQ(WhyNot(), "");
}

TEST_F(HealthTest, AFurtherConditionCounts) {
  absl::Status status = absl::UnavailableError("no names yet");
  health_.Require([&status] { return status; });
  health_.Set(HealthServer::kRuns);
  EXPECT_EQ(WhyNot(), "no names yet");
  status = absl::OkStatus();
  EXPECT_EQ(WhyNot(), "");
}

TEST_F(HealthTest, ProbesOfAMomentAskEnvoyOnce) {
  health_.Set(HealthServer::kRuns);
  EXPECT_TRUE(health_.Check().ok());
  const int once = asked_;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(health_.Check().ok());
  EXPECT_LE(asked_, 2 * once);
}

}  // namespace
}  // namespace fairlead::agent
