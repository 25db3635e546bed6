#include "gen/generator.h"

#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

class RouteGeneratorTest : public ::testing::Test, protected TestClient {
 protected:
  RouteGeneratorTest() { AddService(TestService("a.com", "10.0.0.1")); }

  mesh::ProxyScope Workload(std::string_view app) {
    labels["app"] = app;
    return Scope();
  }
  Resources Ask(const mesh::ProxyScope& scope, const Names& names) {
    return GenerateFor(*generator_, snapshot, scope, &names);
  }

  std::unique_ptr<Generator> generator_ = NewRouteGenerator();
};

envoy::config::route::v3::RouteConfiguration Decode(const cache::ResourcePtr& resource) {
  google::protobuf::Any any;
  envoy::config::route::v3::RouteConfiguration message;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
  EXPECT_TRUE(any.UnpackTo(&message));
  return message;
}

TEST_F(RouteGeneratorTest, AnswersEveryNameInOrder) {
  const auto answers = Ask(Workload("a"), {"80", "nonsense"});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]->name, "80");
  EXPECT_EQ(Decode(answers[0]).virtual_hosts_size(), 2);
  EXPECT_EQ(Decode(answers[1]).name(), "nonsense");
  EXPECT_EQ(Decode(answers[1]).virtual_hosts_size(), 0);
}

TEST_F(RouteGeneratorTest, WorkloadsOfAScopeShareTheirRoutes) {
  EXPECT_EQ(Ask(Workload("a"), {"80"}), Ask(Workload("b"), {"80"}));
}

TEST_F(RouteGeneratorTest, LabelsKeepWorkloadsApartWhereAMatchAsksForThem) {
  virtual_services.back().push_back(
      TestVirtualService("v",
                         "hosts: 'a.com' http { match { source_labels { key: 'app' value: 'b' } } route { "
                         "destination { host: 'b.com' } "
                         "} }"));
  const auto a = Ask(Workload("a"), {"80"}), b = Ask(Workload("b"), {"80"});
  EXPECT_EQ(Decode(a[0]).virtual_hosts(0).routes(0).route().cluster(), "outbound|80||a.com");
  EXPECT_EQ(Decode(b[0]).virtual_hosts(0).routes(0).route().cluster(), "outbound|80||b.com");
}

TEST_F(RouteGeneratorTest, EqualScopesGiveTheSameResourceAndItOutlivesSweeps) {
  const auto before = Ask(Workload("a"), {"80"});
  auto equal = std::make_shared<mesh::ScopeImports>();
  equal->ns = imports->ns;
  equal->outbound_traffic_policy = imports->outbound_traffic_policy;
  equal->egress = imports->egress;
  imports = equal;
  generator_->Sweep(Clock::now());
  EXPECT_EQ(Ask(Workload("a"), {"80"}), before);
  generator_->Sweep(Clock::now());
  generator_->Sweep(Clock::now());
  EXPECT_EQ(Ask(Workload("a"), {"80"}), before);
}

TEST_F(RouteGeneratorTest, WhatNobodyHasAnyMoreIsForgotten) {
  virtual_services.back().push_back(
      TestVirtualService("v", "hosts: 'a.com' http { route { destination { host: 'b.com' } } }"));
  const std::weak_ptr<const mesh::VirtualService> rule = virtual_services.back().back();
  Ask(Workload("a"), {"80"});
  virtual_services.back().clear();
  ASSERT_FALSE(rule.expired());
  const Clock::time_point now = Clock::now();
  for (int i = 0; i < 4; ++i) generator_->Sweep(now + i * std::chrono::minutes(1));
  EXPECT_TRUE(rule.expired());
}

TEST_F(RouteGeneratorTest, AskingForAllIsAskingForNothing) {
  const mesh::ProxyScope scope = Workload("a");
  EXPECT_TRUE(GenerateFor(*generator_, snapshot, scope, nullptr).empty());
}

TEST_F(RouteGeneratorTest, SayWhichRulesTheyAreMadeFrom) {
  virtual_services.back().push_back(
      TestVirtualService("v", "hosts: 'a.com' http { route { destination { host: 'b.com' } } }"));
  const auto answer = Ask(Workload("a"), {"80"}).at(0);
  ASSERT_EQ(answer->origins.size(), 1u);
  EXPECT_TRUE(answer->origins[0].str().starts_with("VirtualService/")) << answer->origins[0].str();
  EXPECT_TRUE(answer->origins[0].str().ends_with("/v")) << answer->origins[0].str();
}

}  // namespace
}  // namespace fairlead::gen::route
