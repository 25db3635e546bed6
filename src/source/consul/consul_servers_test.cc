#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/consul/consul_fake.h"
#include "source/consul/consul_follower.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using istio::networking::v1alpha3::ServiceEntry;
using ::testing::Contains;
using ::testing::Not;

// Three servers that know the same.
class ConsulServersTest : public ::testing::Test {
 protected:
  ConsulServersTest() {
    for (auto& server : servers_) server = std::make_unique<ConsulFake>();
    Put("web", 1);
  }
  ~ConsulServersTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void StartAndSync() {
    ConsulOptions options =
        ConsulFake::OptionsOf(StrCat("consul://", servers_[0]->Address(), ",", servers_[1]->Address(), ",",
                                     servers_[2]->Address(), "?names={name}"));
    options.leader_interval = 50ms;
    options.leader_limit = 500ms;
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = "consul://three"},
                                               std::make_unique<ConsulFollower>(std::move(options)));
    ASSERT_TRUE(source_->Start(&sink_).ok());
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  // Instances of a service, on all servers that are left.
  void Put(const std::string& service, int instances) {
    std::string list;
    for (int i = 0; i < instances; ++i)
      StrAppend(&list, i == 0 ? "" : ",", ConsulFake::Instance(service, StrCat(service, "-", i)));
    for (auto& server : servers_) {
      if (server != nullptr) server->Set(service, StrCat("[", list, "]"));
    }
  }
  bool WaitForEndpoints(const std::string& name, int count) {
    return Eventually([&] {
      const config::ConfigPtr object = sink_.Find(name);
      return object != nullptr && object->Spec<ServiceEntry>().endpoints_size() == count;
    });
  }
  size_t Asked(size_t server) { return servers_[server]->CountRequests("/v1/health"); }

  std::array<std::unique_ptr<ConsulFake>, 3> servers_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(ConsulServersTest, OneIsAskedAtATime) {
  StartAndSync();
  Put("web", 2);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_EQ(Asked(1) + Asked(2), 0u);
}

TEST_F(ConsulServersTest, TheFirstOneMayBeAwayAtTheStart) {
  servers_[0]->SetAway(true);
  StartAndSync();
  EXPECT_TRUE(WaitForEndpoints("web", 1));
}

TEST_F(ConsulServersTest, TheNextOneIsAskedWhenOneDies) {
  StartAndSync();
  servers_[0].reset();
  Put("web", 2);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_GT(Asked(1), 0u);
  servers_[1].reset();
  Put("web", 3);
  EXPECT_TRUE(WaitForEndpoints("web", 3));
  EXPECT_THAT(sink_.History("web"), Not(Contains("-")));
}

TEST_F(ConsulServersTest, AServerThatSaysNothingIsLeft) {
  StartAndSync();
  servers_[0]->SetHung(true);
  Put("web", 2);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  servers_[0]->SetHung(false);
}

TEST_F(ConsulServersTest, AServerWithoutALeaderIsLeft) {
  StartAndSync();
  servers_[0]->SetLeader(false);
  Put("web", 2);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
}

TEST_F(ConsulServersTest, WhatAServerDoesNotKnowYetIsNotWithdrawn) {
  StartAndSync();
  servers_[1]->SetBehind(true);
  servers_[0].reset();
  ASSERT_TRUE(Eventually([&] { return servers_[1]->CountRequests("service/web?consistent") > 0; }));
  Put("web", 2);
  EXPECT_TRUE(WaitForEndpoints("web", 2));
  EXPECT_THAT(sink_.History("web"), Not(Contains("-")));
}

TEST_F(ConsulServersTest, WhereNoneIsThereTheLastViewStays) {
  StartAndSync();
  for (auto& server : servers_) server->SetAway(true);
  EXPECT_TRUE(sink_.WaitForDiagnostic("has no news"));
  EXPECT_NE(sink_.Find("web"), nullptr);
  for (auto& server : servers_) server->SetAway(false);
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

}  // namespace
}  // namespace fairlead::source
