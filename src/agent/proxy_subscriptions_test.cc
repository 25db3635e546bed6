#include "agent/proxy_subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string Whole(const std::string& type, std::vector<std::string> names, const std::string& version = "",
                  const std::string& nonce = "", bool has_node = false) {
  DiscoveryRequest request;
  if (has_node) request.mutable_node()->set_id("me");
  request.set_type_url(type);
  for (const std::string& name : names) request.add_resource_names(name);
  request.set_version_info(version);
  request.set_response_nonce(nonce);
  return request.SerializeAsString();
}

DeltaDiscoveryRequest Delta(const std::string& type, const std::string& nonce = "") {
  DeltaDiscoveryRequest request;
  request.set_type_url(type);
  request.set_response_nonce(nonce);
  return request;
}

std::string DeltaResponse(const std::string& type, const std::string& nonce,
                          const std::vector<std::pair<std::string, std::string>>& added,
                          const std::vector<std::string>& removed = {}) {
  DeltaDiscoveryResponse response;
  response.set_type_url(type);
  response.set_nonce(nonce);
  for (const auto& [name, version] : added) {
    auto* resource = response.add_resources();
    resource->set_name(name);
    resource->set_version(version);
    resource->mutable_resource()->set_value("content");
  }
  for (const std::string& name : removed) response.add_removed_resources(name);
  return response.SerializeAsString();
}

std::string WholeResponse(const std::string& type, const std::string& nonce) {
  DiscoveryResponse response;
  response.set_type_url(type);
  response.set_nonce(nonce);
  return response.SerializeAsString();
}

template <typename Request>
std::vector<Request> Parsed(const std::vector<std::string>& texts) {
  std::vector<Request> requests;
  for (const std::string& text : texts) EXPECT_TRUE(requests.emplace_back().ParseFromString(text));
  return requests;
}

TEST(ProxySubscriptions, RequestsPassUnchangedWhileTheControlPlaneStays) {
  for (const bool delta : {false, true}) {
    ProxySubscriptions subscriptions(delta);
    EXPECT_THAT(subscriptions.Restore(), IsEmpty());
    const std::string first = delta ? Delta("c").SerializeAsString() : Whole("c", {}, "", "", true);
    EXPECT_EQ(*subscriptions.OnRequest(first), first);
    subscriptions.OnResponse(delta ? DeltaResponse("c", "1", {}) : WholeResponse("c", "1"));
    const std::string answer = delta ? Delta("c", "1").SerializeAsString() : Whole("c", {}, "v1", "1");
    EXPECT_EQ(*subscriptions.OnRequest(answer), answer);
  }
}

TEST(ProxySubscriptions, TheNextControlPlaneHearsNamesAndVersionOfStateOfTheWorld) {
  ProxySubscriptions subscriptions(false);
  subscriptions.Restore();
  EXPECT_TRUE(subscriptions.OnRequest(Whole("c", {}, "", "", true)).ok());
  subscriptions.OnResponse(WholeResponse("c", "1"));
  EXPECT_TRUE(subscriptions.OnRequest(Whole("c", {}, "v1", "1")).ok());
  EXPECT_TRUE(subscriptions.OnRequest(Whole("e", {"a", "b"})).ok());
  const auto requests = Parsed<DiscoveryRequest>(subscriptions.Restore());
  ASSERT_EQ(requests.size(), 2);
  EXPECT_EQ(requests[0].node().id(), "me");
  EXPECT_EQ(requests[0].type_url(), "c");
  EXPECT_EQ(requests[0].version_info(), "v1");
  EXPECT_EQ(requests[0].response_nonce(), "");
  EXPECT_FALSE(requests[1].has_node());
  EXPECT_THAT(requests[1].resource_names(), ElementsAre("a", "b"));
}

TEST(ProxySubscriptions, AnAnswerToAnEarlierControlPlaneIsNotForTheNext) {
  ProxySubscriptions subscriptions(false);
  subscriptions.Restore();
  EXPECT_TRUE(subscriptions.OnRequest(Whole("e", {"a"})).ok());
  subscriptions.OnResponse(WholeResponse("e", "1"));
  subscriptions.Restore();
  EXPECT_EQ(*subscriptions.OnRequest(Whole("e", {"a"}, "v1", "1")), "") << "nothing new";
  DiscoveryRequest news;
  ASSERT_TRUE(news.ParseFromString(*subscriptions.OnRequest(Whole("e", {"a", "b"}, "v1", "1"))));
  EXPECT_EQ(news.response_nonce(), "");
  EXPECT_THAT(news.resource_names(), ElementsAre("a", "b"));
  // The same nonce of the next one is another answer.
  subscriptions.OnResponse(WholeResponse("e", "1"));
  const std::string answer = Whole("e", {"a", "b"}, "v2", "1");
  EXPECT_EQ(*subscriptions.OnRequest(answer), answer);
}

TEST(ProxySubscriptions, TheNextControlPlaneHearsAcceptedVersionsOfDelta) {
  ProxySubscriptions subscriptions(true);
  subscriptions.Restore();
  DeltaDiscoveryRequest first = Delta("c");
  first.mutable_node()->set_id("me");
  EXPECT_TRUE(subscriptions.OnRequest(first.SerializeAsString()).ok());
  subscriptions.OnResponse(DeltaResponse("c", "1", {{"a", "1"}, {"b", "1"}}));
  EXPECT_TRUE(subscriptions.OnRequest(Delta("c", "1").SerializeAsString()).ok());
  subscriptions.OnResponse(DeltaResponse("c", "2", {{"a", "2"}}, {"b"}));
  EXPECT_TRUE(subscriptions.OnRequest(Delta("c", "2").SerializeAsString()).ok());
  // Refused, and not answered.
  subscriptions.OnResponse(DeltaResponse("c", "3", {{"a", "3"}}));
  DeltaDiscoveryRequest refusal = Delta("c", "3");
  refusal.mutable_error_detail()->set_message("no");
  EXPECT_TRUE(subscriptions.OnRequest(refusal.SerializeAsString()).ok());
  subscriptions.OnResponse(DeltaResponse("c", "4", {{"a", "4"}}));
  const auto requests = Parsed<DeltaDiscoveryRequest>(subscriptions.Restore());
  ASSERT_EQ(requests.size(), 1);
  EXPECT_EQ(requests[0].node().id(), "me");
  EXPECT_THAT(requests[0].initial_resource_versions(), UnorderedElementsAre(Pair("a", "2")));
  EXPECT_THAT(requests[0].resource_names_subscribe(), IsEmpty()) << "everything, as before";
  EXPECT_FALSE(requests[0].has_error_detail());
}

TEST(ProxySubscriptions, NamesOfDeltaComeAndGo) {
  ProxySubscriptions subscriptions(true);
  subscriptions.Restore();
  DeltaDiscoveryRequest first = Delta("e");
  first.add_resource_names_subscribe("a");
  first.add_resource_names_subscribe("b");
  (*first.mutable_initial_resource_versions())["a"] = "1";
  (*first.mutable_initial_resource_versions())["b"] = "1";
  EXPECT_TRUE(subscriptions.OnRequest(first.SerializeAsString()).ok());
  DeltaDiscoveryRequest change = Delta("e");
  change.add_resource_names_unsubscribe("b");
  change.add_resource_names_subscribe("c");
  EXPECT_TRUE(subscriptions.OnRequest(change.SerializeAsString()).ok());
  auto requests = Parsed<DeltaDiscoveryRequest>(subscriptions.Restore());
  ASSERT_EQ(requests.size(), 1);
  EXPECT_THAT(requests[0].resource_names_subscribe(), ElementsAre("a", "c"));
  EXPECT_THAT(requests[0].resource_names_unsubscribe(), IsEmpty());
  EXPECT_THAT(requests[0].initial_resource_versions(), UnorderedElementsAre(Pair("a", "1")));
  // Without any name left there is nothing to say: it would mean everything.
  DeltaDiscoveryRequest last = Delta("e");
  last.add_resource_names_unsubscribe("a");
  last.add_resource_names_unsubscribe("c");
  EXPECT_TRUE(subscriptions.OnRequest(last.SerializeAsString()).ok());
  EXPECT_THAT(subscriptions.Restore(), IsEmpty());
}

TEST(ProxySubscriptions, NewsInAnAnswerToAnEarlierControlPlaneOfDeltaAreKept) {
  ProxySubscriptions subscriptions(true);
  subscriptions.Restore();
  DeltaDiscoveryRequest first = Delta("e");
  first.add_resource_names_subscribe("a");
  EXPECT_TRUE(subscriptions.OnRequest(first.SerializeAsString()).ok());
  subscriptions.OnResponse(DeltaResponse("e", "1", {{"a", "1"}}));
  subscriptions.Restore();
  EXPECT_EQ(*subscriptions.OnRequest(Delta("e", "1").SerializeAsString()), "");
  DeltaDiscoveryRequest answer = Delta("e", "1");
  answer.add_resource_names_subscribe("b");
  DeltaDiscoveryRequest news;
  ASSERT_TRUE(news.ParseFromString(*subscriptions.OnRequest(answer.SerializeAsString())));
  EXPECT_EQ(news.response_nonce(), "");
  EXPECT_THAT(news.resource_names_subscribe(), ElementsAre("b"));
  EXPECT_THAT(Parsed<DeltaDiscoveryRequest>(subscriptions.Restore())[0].initial_resource_versions(),
              UnorderedElementsAre(Pair("a", "1")))
      << "the proxy has taken it";
}

TEST(ProxySubscriptions, WhatAProxyChoosesIsBounded) {
  ProxySubscriptions subscriptions(false);
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(subscriptions.OnRequest(Whole(StrCat("type", i), {})).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(subscriptions.OnRequest(Whole("one more", {})).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(subscriptions.OnRequest("\xff").status()));
}

}  // namespace
}  // namespace fairlead::agent
