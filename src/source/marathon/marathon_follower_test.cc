#include "source/marathon/marathon_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/file/source_fake.h"
#include "source/marathon/marathon_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using istio::networking::v1alpha3::ServiceEntry;
using ::testing::HasSubstr;

class MarathonFollowerTest : public ::testing::Test {
 protected:
  ~MarathonFollowerTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start(MarathonOptions options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = marathon_.Url()},
                                               std::make_unique<MarathonFollower>(std::move(options)));
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync(const std::string& options = "") {
    Start(marathon_.Options(options));
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  int Endpoints(const std::string& name) {
    const config::ConfigPtr object = sink_.Find(name);
    return object == nullptr ? 0 : object->Spec<ServiceEntry>().endpoints_size();
  }
  bool WaitForEndpoints(const std::string& name, int count) {
    return Eventually([&] { return Endpoints(name) == count; });
  }

  MarathonFake marathon_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(MarathonFollowerTest, AtRestNothingIsAsked) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  StartAndSync();
  EXPECT_EQ(Endpoints("web"), 1);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(marathon_.CountRequests("/v2/"), 3u);  // the stream, apps and pods
}

TEST_F(MarathonFollowerTest, AnUpgradeHasBothVersionsForAWhile) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"old"}));
  StartAndSync();
  marathon_.SetApp("/web", MarathonFake::App("/web", {"old", "new"}));
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  marathon_.SetApp("/web", MarathonFake::App("/web", {"new"}));
  EXPECT_TRUE(WaitForEndpoints("web", 1));
  marathon_.SetApp("/web", "");
  EXPECT_TRUE(WaitForEndpoints("web", 0));
}

TEST_F(MarathonFollowerTest, WhatAnEventComesBeforeIsSeenAtTheSecondLook) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  StartAndSync();
  marathon_.Say("event: health_status_changed_event\ndata: {\"appId\":\"/web\"}\n\n");
  ASSERT_TRUE(Eventually([&] { return marathon_.CountRequests("/v2/apps/web") == 1; }));
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a", "b"}), /*event=*/false);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
}

TEST_F(MarathonFollowerTest, WhatHappensWithoutAStreamIsSeenAfterwards) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  marathon_.SetApp("/db", MarathonFake::App("/db", {"a"}));
  StartAndSync();
  marathon_.SetAway(true);
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a", "b"}), /*event=*/false);
  marathon_.SetApp("/db", "", /*event=*/false);
  EXPECT_TRUE(sink_.WaitForDiagnostic("no leader"));
  marathon_.SetAway(false);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_TRUE(WaitForEndpoints("db", 0));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(MarathonFollowerTest, HalfAnEventIsNone) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  StartAndSync();
  marathon_.Say("event: instance_changed_event\ndata: {\"runSpecId\":");
  marathon_.EndStreams();
  EXPECT_TRUE(Eventually([&] { return marathon_.streams() == 2; }));
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a", "b"}));
  EXPECT_TRUE(WaitForEndpoints("web", 2));
}

TEST_F(MarathonFollowerTest, AnEventThatCannotBeReadListsAll) {
  StartAndSync();
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}), /*event=*/false);
  marathon_.Say("event: group_change_success\ndata: [\n\n");
  EXPECT_TRUE(WaitForEndpoints("web", 1));
}

TEST_F(MarathonFollowerTest, TheLeaderIsFollowed) {
  MarathonFake leader;
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  leader.SetApp("/web", MarathonFake::App("/web", {"a", "b"}));
  StartAndSync();
  EXPECT_EQ(Endpoints("web"), 1);
  marathon_.RedirectTo(leader.Address());
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_EQ(leader.streams(), 1u);
}

TEST_F(MarathonFollowerTest, ALeaderOutsideOfTheUrlGetsNoCredentials) {
  MarathonFake leader;
  TestFolder folder;
  folder.Write("password", "secret\n");
  marathon_.RedirectTo(leader.Address());
  Start(marathon_.Options(StrCat("user=me&passwordFile=", folder / "password")));
  EXPECT_TRUE(sink_.WaitForDiagnostic("no master of the URL and gets no credentials"));
  EXPECT_EQ(leader.CountRequests("/v2/"), 0u);
  EXPECT_EQ(marathon_.authorization(), "Basic bWU6c2VjcmV0");
}

TEST_F(MarathonFollowerTest, TheNextMasterIsAskedWhereOneIsAway) {
  MarathonFake other;
  other.SetApp("/web", MarathonFake::App("/web", {"a"}));
  marathon_.SetAway(true);
  MarathonOptions options = marathon_.Options();
  options.url.addresses.push_back(other.Options().url.addresses.front());
  Start(std::move(options));
  EXPECT_TRUE(sink_.WaitForSync());
  EXPECT_EQ(Endpoints("web"), 1);
}

TEST_F(MarathonFollowerTest, TokensAreReadFromTheirFiles) {
  TestFolder folder;
  folder.Write("token", "abc\n");
  StartAndSync(StrCat("tokenFile=", folder / "token", "&tokenScheme=token"));
  EXPECT_EQ(marathon_.authorization(), "token=abc");
  folder.Write("token", "def\n");
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  EXPECT_TRUE(Eventually([&] { return marathon_.authorization() == "token=def"; }));
}

TEST_F(MarathonFollowerTest, ReadinessIsLookedAtWhileADeploymentRuns) {
  const std::string checks = R"("readinessChecks":[{"name":"r"}],"deployments":[{"id":"d"}],)";
  marathon_.SetApp("/web",
                   MarathonFake::App("/web", {"a", "b"},
                                     checks + R"("readinessCheckResults":[{"taskId":"b","ready":false}])",
                                     R"("version":"2025-01-01T00:00:00Z")"));
  StartAndSync();
  EXPECT_EQ(Endpoints("web"), 1);
  marathon_.Say("event: deployment_info\ndata: {\"currentStep\":{\"actions\":[{\"app\":\"/web\"}]}}\n\n");
  ASSERT_TRUE(Eventually([&] { return marathon_.CountRequests("/v2/apps/web") > 2; }));
  marathon_.SetApp("/web",
                   MarathonFake::App("/web", {"a", "b"},
                                     checks + R"("readinessCheckResults":[{"taskId":"b","ready":true}])",
                                     R"("version":"2025-01-01T00:00:00Z")"),
                   /*event=*/false);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
}

TEST_F(MarathonFollowerTest, APodComesAndGoes) {
  const std::string pod =
      R"({"id":"/pod","spec":{"id":"/pod","containers":[{"name":"c","endpoints":[{"name":"http","hostPort":0}]}],)"
      R"("networks":[{"mode":"host"}]},"instances":[{"id":"i","status":"STABLE","agentHostname":"10.0.0.9",)"
      R"("containers":[{"name":"c","status":"TASK_RUNNING","endpoints":[{"name":"http","allocatedHostPort":31005}]}]}]})";
  StartAndSync();
  marathon_.SetPod("/pod", pod);
  EXPECT_TRUE(WaitForEndpoints("pod", 1));
  marathon_.SetPod("/pod", "");
  EXPECT_TRUE(WaitForEndpoints("pod", 0));
}

TEST_F(MarathonFollowerTest, SenselessAnswersLeaveTheLastGoodOnes) {
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a"}));
  StartAndSync();
  marathon_.SetApp("/web", R"({"id":"web"})");
  EXPECT_TRUE(sink_.WaitForDiagnostic("no id that begins with a slash"));
  EXPECT_EQ(Endpoints("web"), 1);
  marathon_.SetApp("/web", MarathonFake::App("/web", {"a", "b"}));
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(MarathonFollowerTest, MistakesInTheUrlAreNamed) {
  const auto why = [](std::string_view url) {
    return std::string(ParseMarathonOptions(url).status().message());
  };
  EXPECT_THAT(why("marathon://h?readdy=any"), HasSubstr("did you mean ready?"));
  EXPECT_THAT(why("marathon://h?user=me"), HasSubstr("needs the other one of user and passwordFile"));
  EXPECT_THAT(why("marathon://h?user=me&passwordFile=p&tokenFile=t"), HasSubstr("beside user"));
  EXPECT_THAT(why("marathon://h?names=web"), HasSubstr("without {name}"));
  EXPECT_THAT(why("marathon://h?namespace={x}"), HasSubstr("known is {group}"));
  EXPECT_THAT(why("marathon://h?address=here"), HasSubstr("not one of auto, host, container"));
  EXPECT_EQ(HttpBaseOf(ParseMarathonOptions("marathon://h,i:81/service/m")->url, false, 1),
            "http://i:81/service/m");
}

}  // namespace
}  // namespace fairlead::source
