#include "source/consul/consul_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "source/consul/consul_fake.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using istio::networking::v1alpha3::ServiceEntry;
using ::testing::HasSubstr;

class ConsulFollowerTest : public ::testing::Test {
 protected:
  ~ConsulFollowerTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start(const std::string& options = "") { Start(consul_.Options(options)); }
  void Start(ConsulOptions options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = consul_.Url()},
                                               std::make_unique<ConsulFollower>(std::move(options)));
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync(const std::string& options = "") {
    Start(options);
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  void Put(const std::string& service, const std::string& tags = "[]", const std::string& datacenter = "") {
    consul_.Set(service, StrCat("[", ConsulFake::Instance(service, service, tags), "]"), datacenter);
  }
  std::string Protocol(const std::string& name) {
    const config::ConfigPtr object = sink_.Find(name);
    return object == nullptr ? "" : object->Spec<ServiceEntry>().ports(0).protocol();
  }
  int Endpoints(const std::string& name) {
    const config::ConfigPtr object = sink_.Find(name);
    return object == nullptr ? 0 : object->Spec<ServiceEntry>().endpoints_size();
  }

  ConsulFake consul_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(ConsulFollowerTest, WaitsForNewsWithoutAsking) {
  Put("web");
  StartAndSync();
  ASSERT_TRUE(Eventually([&] { return consul_.CountRequests("wait=300000ms") == 4; }));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(consul_.CountRequests("/v1/"), 8u);  // each once at once, and once to wait
}

TEST_F(ConsulFollowerTest, AChangedCheckTakesTheInstanceOut) {
  Put("web");
  StartAndSync();
  ASSERT_EQ(Endpoints("web"), 1);
  consul_.Set("web",
              StrCat("[", ConsulFake::Instance("web", "a", "[]", R"([{"CheckID":"c","Status":"critical"}])"),
                     ",", ConsulFake::Instance("web", "b"), ",", ConsulFake::Instance("web", "c"), "]"));
  EXPECT_TRUE(Eventually([&] { return Endpoints("web") == 2; }));
  consul_.Set("web", "[]");
  EXPECT_TRUE(Eventually([&] { return sink_.Find("web") == nullptr; }));
}

TEST_F(ConsulFollowerTest, ProtocolsFollowConfigurationEntries) {
  Put("web");
  Put("db");
  consul_.SetConfig("service-defaults", R"([{"Kind":"service-defaults","Name":"web","Protocol":"http"}])");
  StartAndSync();
  EXPECT_EQ(Protocol("web"), "HTTP");
  EXPECT_EQ(Protocol("db"), "TCP");
  consul_.SetConfig("proxy-defaults", R"([{"Name":"global","Config":{"protocol":"grpc"}}])");
  EXPECT_TRUE(Eventually([&] { return Protocol("db") == "GRPC"; }));
  EXPECT_EQ(Protocol("web"), "HTTP");
}

TEST_F(ConsulFollowerTest, ConfigurationThatMayNotBeReadIsARemark) {
  Put("web");
  consul_.Refuse("/v1/config/", 403);
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForDiagnostic("forbidden-defaults"));
}

TEST_F(ConsulFollowerTest, ATokenIsReadFromItsFileForEachQuestion) {
  TestFolder folder;
  folder.Write("token", "first\n");
  Put("web");
  StartAndSync(StrCat("tokenFile=", folder / "token"));
  EXPECT_EQ(consul_.authorization(), "Bearer first");
  folder.Write("token", "second\n");
  Put("api");
  EXPECT_TRUE(Eventually([&] { return consul_.authorization() == "Bearer second"; }));
}

TEST_F(ConsulFollowerTest, AServerWithoutALeaderIsNotBelieved) {
  Put("web");
  StartAndSync();
  consul_.SetLeader(false);
  EXPECT_TRUE(sink_.WaitForDiagnostic("the server knows no leader"));
  EXPECT_NE(sink_.Find("web"), nullptr);
  consul_.SetLeader(true);
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(ConsulFollowerTest, SenselessAnswersLeaveTheLastGoodOnes) {
  Put("web");
  StartAndSync();
  consul_.Set("web", "{\"not\": \"a list\"}");
  EXPECT_TRUE(sink_.WaitForDiagnostic("the list of instances is no list"));
  EXPECT_EQ(Endpoints("web"), 1);
  Put("web", R"(["v=2"])");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(ConsulFollowerTest, DatacentersAreMergedAndLetGo) {
  Put("web", "[]", "east");
  Put("web", "[]", "west");
  Put("only", "[]", "west");
  StartAndSync("dc=east,west");
  EXPECT_EQ(Endpoints("web"), 2);
  EXPECT_EQ(Endpoints("only"), 1);
  EXPECT_GE(consul_.CountRequests("service/web?dc=west&stale"), 1u);
  consul_.Set("web", "[]", "west");
  EXPECT_TRUE(Eventually([&] { return Endpoints("web") == 1; }));
}

TEST_F(ConsulFollowerTest, ParametersReachTheServer) {
  Put("web");
  StartAndSync(
      "consistency=consistent&consulNamespace=team&consulPartition=p&filter=Service.Meta.env%20%3D%3D%20%22x%"
      "22");
  EXPECT_GE(consul_.CountRequests(
                "service/web?ns=team&partition=p&filter=Service.Meta.env%20%3D%3D%20%22x%22&consistent"),
            1u);
}

TEST_F(ConsulFollowerTest, TooManyServicesTakeTurns) {
  for (int i = 10; i < 40; ++i) Put(StrCat("s", i));
  StartAndSync("watches=4");
  EXPECT_TRUE(sink_.WaitForDiagnostic("take turns in 4 questions at once"));
  for (int i = 10; i < 40; ++i) {
    consul_.Set(StrCat("s", i),
                StrCat("[", ConsulFake::Instance("s", "a"), ",", ConsulFake::Instance("s", "b"), "]"));
  }
  EXPECT_TRUE(Eventually([&] {
    for (int i = 10; i < 40; ++i) {
      if (Endpoints(StrCat("s", i)) != 2) return false;
    }
    return true;
  }));
  EXPECT_LE(consul_.most_at_once(), 4u + 4u);  // a question that gave way may still be with the server
}

TEST_F(ConsulFollowerTest, WhatIsThereIsAskedForInPartsBeforeAnythingWaits) {
  for (int i = 10; i < 40; ++i) Put(StrCat("s", i));
  ConsulOptions options = consul_.Options("watches=50");
  options.whole_at_once = 4;
  Start(std::move(options));
  ASSERT_TRUE(sink_.WaitForSync());
  ASSERT_TRUE(Eventually([&] { return consul_.CountRequests("service/s") == 60; }));
  size_t whole = 0;
  for (const std::string& request : consul_.requests()) {
    if (request.find("service/s") == std::string::npos) continue;
    const bool waits = request.find("index=") != std::string::npos;
    EXPECT_TRUE(!waits || whole >= 26) << request << " after " << whole;  // four may be on their way
    if (!waits) ++whole;
  }
  consul_.Set("s39", "[]");
  EXPECT_TRUE(Eventually([&] { return sink_.Find("s39") == nullptr; }));
}

TEST_F(ConsulFollowerTest, IntentionsFollowServicesAndEntries) {
  Put("web");
  consul_.SetConfig("service-intentions", R"([{"Name":"web","Sources":[{"Name":"api","Action":"allow"}]},)"
                                          R"({"Name":"later","Sources":[{"Name":"api","Action":"allow"}]}])");
  StartAndSync("intentions=true");
  const auto rules = [this](const std::string& name) {
    const config::ConfigPtr object = sink_.Find(StrCat("intentions-", name));
    return object == nullptr ? -1
                             : object->Spec<istio::security::v1beta1::AuthorizationPolicy>().rules_size();
  };
  EXPECT_EQ(rules("web"), 1);
  EXPECT_EQ(rules("later"), 1);  // before the service is
  Put("db");
  EXPECT_TRUE(Eventually([&] { return rules("db") == 0; }));
  consul_.SetConfig("service-intentions", "[]");
  EXPECT_TRUE(Eventually([&] { return rules("web") == 0 && rules("later") == -1; }));
  // What may not be read any more stays in force.
  consul_.SetConfig("service-intentions", R"([{"Name":"web","Sources":[{"Name":"api","Action":"allow"}]}])");
  EXPECT_TRUE(Eventually([&] { return rules("web") == 1; }));
  consul_.Refuse("service-intentions", 403);
  EXPECT_TRUE(sink_.WaitForDiagnostic("service-intentions: status 403"));
  EXPECT_EQ(rules("web"), 1);
}

TEST_F(ConsulFollowerTest, WithoutItsIntentionsNothingIsComplete) {
  Put("web");
  consul_.Refuse("service-intentions", 403);
  Start("intentions=true");
  EXPECT_TRUE(sink_.WaitForDiagnostic("service-intentions: status 403"));
  EXPECT_EQ(sink_.batches(), 0u);
  consul_.Refuse("service-intentions", 0);
  EXPECT_TRUE(sink_.WaitForSync());
}

TEST_F(ConsulFollowerTest, MistakesInTheUrlAreNamed) {
  const auto why = [](std::string_view url) {
    return std::string(ParseConsulOptions(url).status().message());
  };
  EXPECT_THAT(why("consul://h?readdy=any"), HasSubstr("option readdy is not known; did you mean ready?"));
  EXPECT_THAT(why("consul://h?ready=no"),
              HasSubstr("option ready is \"no\", not one of warning, passing, any"));
  EXPECT_THAT(why("consul://h?names=web"), HasSubstr("without {name}"));
  EXPECT_THAT(why("consul://h?names={name}.{x}"), HasSubstr("known are {name}, {dc}"));
  EXPECT_THAT(why("consul://h/path"), HasSubstr("has no path"));
  EXPECT_THAT(why("consul://h:0"), HasSubstr("is no port"));
  EXPECT_THAT(why("consul://user:pw@h"), HasSubstr("tokenFile names a file"));
  EXPECT_THAT(why("consul://h?selector=a%20b"), HasSubstr("option selector cannot be read"));
  EXPECT_THAT(why("consul://h?certFile=a"), HasSubstr("needs the other one"));
  EXPECT_THAT(why("consul://h?port=99999"), HasSubstr("not a number from 1 to 65535"));
  EXPECT_EQ(ParseConsulOptions("consul://h")->url.addresses.front().second, 8500);
  EXPECT_EQ(ParseConsulOptions("consul://[::1]:85")->url.addresses.front().first, "[::1]");
}

}  // namespace
}  // namespace fairlead::source
