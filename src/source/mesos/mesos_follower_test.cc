#include "source/mesos/mesos_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/file/source_fake.h"
#include "source/mesos/mesos_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using istio::networking::v1alpha3::ServiceEntry;
using ::testing::HasSubstr;

class MesosFollowerTest : public ::testing::Test {
 protected:
  ~MesosFollowerTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start(MesosOptions options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = mesos_.Url()},
                                               std::make_unique<MesosFollower>(std::move(options)));
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync(const std::string& options = "") {
    Start(mesos_.Options(options));
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  // "10.0.0.1 10.0.0.2"; "": there is no such entry.
  std::string Endpoints(const std::string& name) {
    const config::ConfigPtr object = sink_.Find(name);
    if (object == nullptr) return "";
    std::string text;
    for (const auto& endpoint : object->Spec<ServiceEntry>().endpoints())
      StrAppend(&text, text.empty() ? "" : " ", endpoint.address());
    return text;
  }
  bool WaitForEndpoints(const std::string& name, const std::string& addresses) {
    return Eventually([&] { return Endpoints(name) == addresses; });
  }

  MesosFake mesos_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(MesosFollowerTest, OneCallShowsAllAndEveryChange) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync();
  EXPECT_EQ(mesos_.body(), R"({"type":"SUBSCRIBE"})");
  EXPECT_EQ(Endpoints("web"), "10.0.0.1");
  mesos_.AddTask("b", "web", "10.0.0.2");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.2"));
  mesos_.DropTask("a");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.2"));
  mesos_.DropTask("b");
  EXPECT_TRUE(WaitForEndpoints("web", ""));
  EXPECT_EQ(mesos_.CountRequests("/"), 1u);
}

TEST_F(MesosFollowerTest, OnlyRunningTasksGetRequests) {
  StartAndSync();
  mesos_.AddTask("a", "web", "10.0.0.1");
  mesos_.AddTask("b", "web", "10.0.0.2");
  ASSERT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.2"));
  mesos_.Update("a", "TASK_KILLING");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.2"));
  mesos_.Update("b", "TASK_UNREACHABLE");
  EXPECT_TRUE(WaitForEndpoints("web", ""));
  mesos_.AddTask("b", "web", "10.0.0.2");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.2"));
}

TEST_F(MesosFollowerTest, HealthDecides) {
  mesos_.AddTask("a", "web", "10.0.0.1", R"("health_check":{"type":"HTTP"})");
  mesos_.AddTask("b", "web", "10.0.0.2");
  StartAndSync();
  EXPECT_EQ(Endpoints("web"), "10.0.0.2");  // the first one has no result yet
  mesos_.Update("a", "TASK_RUNNING", R"("healthy":true)");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.2"));
  mesos_.Update("b", "TASK_RUNNING", R"("healthy":false)");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1"));
}

TEST_F(MesosFollowerTest, WhatHappensWithoutAStreamIsSeenAfterwards) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  mesos_.AddTask("b", "db", "10.0.0.2");
  StartAndSync();
  mesos_.SetAway(true);
  EXPECT_TRUE(sink_.WaitForDiagnostic("No leader elected"));
  mesos_.DropTask("b", /*event=*/false);
  mesos_.AddTask("c", "web", "10.0.0.3");
  EXPECT_EQ(Endpoints("db"), "10.0.0.2");
  mesos_.SetAway(false);
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.3"));
  EXPECT_TRUE(WaitForEndpoints("db", ""));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(MesosFollowerTest, HalfARecordIsNone) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync();
  mesos_.Say(
      "4000\n"
      R"({"type":"AGENT_REMOVED","agent_removed":)");
  mesos_.EndStreams();
  EXPECT_TRUE(Eventually([&] { return mesos_.streams() == 2; }));
  mesos_.AddTask("b", "web", "10.0.0.2");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.2"));
}

TEST_F(MesosFollowerTest, AfterARecordThatCannotBeReadAllIsShownAnew) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync();
  mesos_.DropTask("a", /*event=*/false);
  for (const char* garbage : {"garbage\n", "2\n[]", "17\n{\"type\":\"HEARTBEA", "99999999999\n",
                              "28\n{\"type\":\"TASK_ADDED\",\"a\":\"\"}"}) {
    const size_t before = mesos_.streams();
    mesos_.Say(garbage);
    mesos_.Say(MesosFake::Record(R"({"type":"HEARTBEAT"})"));
    EXPECT_TRUE(Eventually([&] { return mesos_.streams() > before; })) << garbage;
  }
  EXPECT_TRUE(WaitForEndpoints("web", ""));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(MesosFollowerTest, UnknownEventsArePassedOver) {
  StartAndSync();
  mesos_.Say(MesosFake::Record(R"({"type":"OPERATION_ADDED","operation_added":{}})"));
  mesos_.AddTask("a", "web", "10.0.0.1");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1"));
  EXPECT_EQ(mesos_.streams(), 1u);
}

TEST_F(MesosFollowerTest, WithoutHeartbeatsAStreamIsGivenUp) {
  mesos_.SetHeartbeats("0.02", /*sent=*/false);
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync();
  EXPECT_TRUE(Eventually([&] { return mesos_.streams() > 2; }));
  EXPECT_EQ(Endpoints("web"), "10.0.0.1");
  mesos_.SetHeartbeats("15", /*sent=*/true);
}

TEST_F(MesosFollowerTest, HeartbeatsKeepAStream) {
  mesos_.SetHeartbeats("0.1", /*sent=*/true);
  StartAndSync();
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(mesos_.streams(), 1u);
}

TEST_F(MesosFollowerTest, TheLeaderIsFollowed) {
  MesosFake leader;
  mesos_.AddTask("a", "web", "10.0.0.1");
  leader.AddTask("a", "web", "10.0.0.1");
  leader.AddTask("b", "web", "10.0.0.2");
  StartAndSync();
  EXPECT_EQ(Endpoints("web"), "10.0.0.1");
  mesos_.RedirectTo(StrCat("//", leader.Address(), "/api/v1"));
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.2"));
  EXPECT_EQ(leader.streams(), 1u);
}

TEST_F(MesosFollowerTest, MastersThatSendToEachOtherAreNotFollowedForEver) {
  mesos_.RedirectTo(StrCat("//", mesos_.Address(), "/api/v1"));
  Start(mesos_.Options());
  EXPECT_TRUE(sink_.WaitForDiagnostic("where it is not followed"));
}

TEST_F(MesosFollowerTest, ALeaderOutsideOfTheUrlGetsNoCredentials) {
  MesosFake leader;
  TestFolder folder;
  folder.Write("password", "secret\n");
  mesos_.RedirectTo(StrCat("//", leader.Address(), "/api/v1"));
  Start(mesos_.Options(StrCat("user=me&passwordFile=", folder / "password")));
  EXPECT_TRUE(sink_.WaitForDiagnostic("no master of the URL and gets no credentials"));
  EXPECT_EQ(leader.CountRequests("/"), 0u);
  EXPECT_EQ(mesos_.authorization(), "Basic bWU6c2VjcmV0");
}

TEST_F(MesosFollowerTest, TheNextMasterIsAskedWhereOneIsAway) {
  MesosFake other;
  other.AddTask("a", "web", "10.0.0.1");
  mesos_.SetAway(true);
  MesosOptions options = mesos_.Options();
  options.url.addresses.push_back(other.Options().url.addresses.front());
  Start(std::move(options));
  EXPECT_TRUE(sink_.WaitForSync());
  EXPECT_EQ(Endpoints("web"), "10.0.0.1");
}

TEST_F(MesosFollowerTest, TokensAreReadFromTheirFiles) {
  TestFolder folder;
  folder.Write("token", "abc\n");
  StartAndSync(StrCat("tokenFile=", folder / "token"));
  EXPECT_EQ(mesos_.authorization(), "Bearer abc");
  folder.Write("token", "def\n");
  mesos_.EndStreams();
  EXPECT_TRUE(Eventually([&] { return mesos_.authorization() == "Bearer def"; }));
}

TEST_F(MesosFollowerTest, AgentsAndFrameworksTakeTheirTasksAlong) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync();
  mesos_.RemoveAgent();
  EXPECT_TRUE(WaitForEndpoints("web", ""));
  mesos_.AddTask("b", "web", "10.0.0.2");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.2"));
  mesos_.RemoveFramework();
  EXPECT_TRUE(WaitForEndpoints("web", ""));
}

TEST_F(MesosFollowerTest, AnAgentThatComesLaterGivesItsAddress) {
  mesos_.RemoveAgent();
  mesos_.AddTask("a", "web", "");
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForDiagnostic("no known agent"));
  mesos_.Say(
      MesosFake::Record(R"({"type":"AGENT_ADDED","agent_added":{"agent":{"agent_info":{"id":{"value":"A"},)"
                        R"("hostname":"agent-a.example.com"}}}})"));
  EXPECT_TRUE(WaitForEndpoints("web", "agent-a.example.com"));
  mesos_.Say(
      MesosFake::Record(R"({"type":"AGENT_ADDED","agent_added":{"agent":{"agent_info":{"id":{"value":"A"},)"
                        R"("hostname":"agent-a.example.com"},"pid":"slave(1)@10.9.9.9:5051"}}})"));
  EXPECT_TRUE(WaitForEndpoints("web", "10.9.9.9"));
}

TEST_F(MesosFollowerTest, AFrameworkThatIsRenamedTakesItsServicesAlong) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  StartAndSync("namespace={framework}");
  ASSERT_NE(sink_.Find("web"), nullptr);
  EXPECT_EQ(sink_.Find("web")->ns().str(), "aurora");
  mesos_.Say(MesosFake::Record(R"({"type":"FRAMEWORK_UPDATED","framework_updated":{"framework":)"
                               R"({"framework_info":{"id":{"value":"F"},"name":"Aurora 2"}}}})"));
  EXPECT_TRUE(Eventually([&] {
    const config::ConfigPtr object = sink_.Find("web");
    return object != nullptr && object->ns().str() == "aurora-2";
  }));
}

TEST_F(MesosFollowerTest, TooMuchLeavesTheLastGoodView) {
  mesos_.AddTask("a", "web", "10.0.0.1");
  MesosOptions options = mesos_.Options();
  options.most_tasks = 2;
  Start(std::move(options));
  ASSERT_TRUE(sink_.WaitForSync());
  mesos_.SetAway(true);
  mesos_.AddTask("b", "web", "10.0.0.2");
  mesos_.AddTask("c", "web", "10.0.0.3");
  mesos_.SetAway(false);
  EXPECT_TRUE(sink_.WaitForDiagnostic("more than 2 tasks have DiscoveryInfo"));
  EXPECT_EQ(Endpoints("web"), "10.0.0.1");
  mesos_.DropTask("b");
  EXPECT_TRUE(WaitForEndpoints("web", "10.0.0.1 10.0.0.3"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(MesosFollowerTest, MistakesInTheUrlAreNamed) {
  const auto why = [](std::string_view url) {
    return std::string(ParseMesosOptions(url).status().message());
  };
  EXPECT_THAT(why("mesos://h?readdy=any"), HasSubstr("did you mean ready?"));
  EXPECT_THAT(why("mesos://h?user=me"), HasSubstr("needs the other one of user and passwordFile"));
  EXPECT_THAT(why("mesos://h?names=web"), HasSubstr("without {name}"));
  EXPECT_THAT(why("mesos://h?namespace={x}"), HasSubstr("known are {framework}, {environment}, {location}"));
  EXPECT_THAT(why("mesos://h?ports=http:0"), HasSubstr("neither a port nor NAME:PORT"));
  EXPECT_THAT(why("mesos://h?ports=80,81"), HasSubstr("twice"));
  EXPECT_THAT(why("mesos://h?frameworks=!"), HasSubstr("a ! without a name"));
  EXPECT_THAT(why("mesos://h?visibility=all"), HasSubstr("not one of export, ignore"));
  EXPECT_EQ(why("mesos://h,i:5051/prefix?frameworks=aurora,!marathon&ports=http:80,9000"), "");
}

}  // namespace
}  // namespace fairlead::source
