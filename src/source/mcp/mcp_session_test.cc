#include "source/mcp/mcp_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "source/mcp/mcp_messages.h"

namespace fairlead::source {
namespace {

using config::Kind;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using istio::mcp::v1alpha1::Resource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Resource Entry(const std::string& name, const std::string& host) {
  Resource resource;
  resource.mutable_metadata()->set_name(name);
  resource.mutable_metadata()->mutable_create_time()->set_seconds(1'700'000'000);
  (*resource.mutable_metadata()->mutable_labels())["env"] = "prod";
  istio::networking::v1alpha3::ServiceEntry entry;
  if (!host.empty()) entry.add_hosts(host);
  auto& port = *entry.add_ports();
  port.set_number(80);
  port.set_name("http");
  port.set_protocol("HTTP");
  entry.set_resolution(istio::networking::v1alpha3::ServiceEntry::DNS);
  resource.mutable_body()->PackFrom(entry);
  return resource;
}

class McpSessionTest : public ::testing::Test {
 protected:
  explicit McpSessionTest(const std::string& url = "xds://h?kinds=ServiceEntry,VirtualService")
      : options_(*ParseMcpOptions(url)), session_(options_, &view_) {}

  static std::string Url(Kind kind) { return McpTypeUrl(kind); }
  DiscoveryRequest Take(const DiscoveryResponse& response) {
    const auto answer = session_.Take(response.SerializeAsString());
    EXPECT_TRUE(answer.ok()) << answer.status();
    DiscoveryRequest request;
    EXPECT_TRUE(request.ParseFromString(answer.value_or("")));
    return request;
  }
  static DiscoveryResponse Response(Kind kind, const std::string& version,
                                    const std::vector<Resource>& resources) {
    DiscoveryResponse response;
    response.set_type_url(Url(kind));
    response.set_version_info(version);
    response.set_nonce("n" + version);
    for (const Resource& one : resources) response.add_resources()->PackFrom(one);
    return response;
  }
  std::vector<std::string> Changes() {
    std::vector<std::string> texts;
    for (const config::ObjectChange& change : view_.TakeChanges())
      texts.push_back(StrCat(change.object == nullptr ? "-" : "+", config::Describe(change.key)));
    return texts;
  }

  McpOptions options_;
  PlatformView view_;
  McpSession session_;
};

TEST_F(McpSessionTest, AsksForEachKindAndSaysWhoItIsOnce) {
  const std::vector<std::string> requests = session_.Begin();
  ASSERT_EQ(requests.size(), 2u);
  DiscoveryRequest first, second;
  ASSERT_TRUE(first.ParseFromString(requests[0]));
  ASSERT_TRUE(second.ParseFromString(requests[1]));
  EXPECT_EQ(first.type_url(), "networking.istio.io/v1/ServiceEntry");
  EXPECT_EQ(first.node().id(), "sidecar~127.0.0.1~fairlead.istio-system~istio-system.svc.cluster.local");
  EXPECT_EQ(first.node().metadata().fields().at("GENERATOR").string_value(), "api");
  EXPECT_EQ(second.type_url(), "networking.istio.io/v1/VirtualService");
  EXPECT_FALSE(second.has_node());
}

TEST_F(McpSessionTest, ACollectionIsWhatTheLastResponseHas) {
  session_.Begin();
  const DiscoveryRequest answer = Take(Response(
      Kind::kServiceEntry, "1", {Entry("shop/a", "a.example.com"), Entry("shop/b", "b.example.com")}));
  EXPECT_EQ(answer.version_info(), "1");
  EXPECT_EQ(answer.response_nonce(), "n1");
  EXPECT_FALSE(answer.has_error_detail());
  EXPECT_THAT(Changes(), ElementsAre("+ServiceEntry shop/a", "+ServiceEntry shop/b"));
  EXPECT_FALSE(view_.complete());
  Take(Response(Kind::kVirtualService, "1", {}));
  EXPECT_TRUE(view_.complete());
  Take(Response(Kind::kServiceEntry, "2", {Entry("shop/b", "b.example.com")}));
  EXPECT_THAT(Changes(), ElementsAre("-ServiceEntry shop/a"));
  Take(Response(Kind::kServiceEntry, "3", {}));
  EXPECT_THAT(Changes(), ElementsAre("-ServiceEntry shop/b"));
}

TEST_F(McpSessionTest, ARefusalNamesEachObjectAndTheOthersCount) {
  session_.Begin();
  Take(Response(Kind::kServiceEntry, "1", {Entry("shop/a", "a.example.com")}));
  Changes();
  Resource strange = Entry("shop/c", "c.example.com");
  strange.mutable_body()->PackFrom(istio::networking::v1alpha3::VirtualService());
  const DiscoveryRequest answer = Take(
      Response(Kind::kServiceEntry, "2", {Entry("shop/a", ""), Entry("shop/b", "b.example.com"), strange}));
  EXPECT_EQ(answer.version_info(), "1");
  EXPECT_EQ(answer.response_nonce(), "n2");
  EXPECT_THAT(answer.error_detail().message(), HasSubstr("shop/a: spec.hosts"));
  EXPECT_THAT(answer.error_detail().message(),
              HasSubstr("shop/c: the body is a istio.networking.v1alpha3.VirtualService"));
  EXPECT_THAT(Changes(), ElementsAre("+ServiceEntry shop/b"));  // of a the earlier one stays
  EXPECT_EQ(view_.Diagnostics("xds://h").size(), 3u);
  EXPECT_FALSE(
      Take(Response(Kind::kServiceEntry, "3", {Entry("shop/a", "a2.example.com")})).has_error_detail());
  EXPECT_THAT(view_.Diagnostics("xds://h"), IsEmpty());
}

TEST_F(McpSessionTest, ServicesOfOtherRegistriesAreLeftOut) {
  session_.Begin();
  Take(Response(Kind::kServiceEntry, "1", {Entry("shop/synthetic-web", "web.shop.svc.cluster.local")}));
  EXPECT_THAT(Changes(), IsEmpty());
}

// As istiod sends them beside the Gateway and the HTTPRoute.
TEST_F(McpSessionTest, WhatTheServerMadeOfTheGatewayApiIsLeftOut) {
  session_.Begin();
  Take(Response(Kind::kServiceEntry, "1",
                {Entry("shop/edge~istio-autogenerated-k8s-gateway~http", "a.example.com")}));
  EXPECT_THAT(Changes(), IsEmpty());
  EXPECT_THAT(view_.Diagnostics("xds://h"), IsEmpty());
}

TEST_F(McpSessionTest, ATypeWithoutAnAnswerIsSaidAndKeepsItsObjects) {
  session_.Begin();
  session_.StopWaiting();
  EXPECT_FALSE(view_.complete());  // nothing was answered: the server may not be what it should be
  Take(Response(Kind::kServiceEntry, "1", {}));
  session_.StopWaiting();
  EXPECT_TRUE(view_.complete());
  ASSERT_EQ(view_.Diagnostics("xds://h").size(), 1u);
  EXPECT_THAT(view_.Diagnostics("xds://h")[0].message, HasSubstr("networking.istio.io/v1/VirtualService"));
  Take(Response(Kind::kVirtualService, "1", {}));
  EXPECT_THAT(view_.Diagnostics("xds://h"), IsEmpty());
}

TEST_F(McpSessionTest, MalformedAnswersEndTheStream) {
  session_.Begin();
  EXPECT_FALSE(session_.Take("\xff\xff").ok());
  EXPECT_FALSE(session_.Take(Response(Kind::kSidecar, "1", {}).SerializeAsString()).ok());
}

TEST_F(McpSessionTest, AnUnreadableNameIsRefused) {
  session_.Begin();
  for (const char* name : {"", "a", "/a", "shop/"}) {
    const DiscoveryRequest answer = Take(Response(Kind::kServiceEntry, "1", {Entry(name, "a.example.com")}));
    EXPECT_TRUE(answer.has_error_detail()) << name;
  }
  EXPECT_THAT(Changes(), IsEmpty());
}

class McpDeltaTest : public McpSessionTest {
 protected:
  McpDeltaTest() : McpSessionTest("xds://h?kinds=ServiceEntry&protocol=delta") {}
  DeltaDiscoveryRequest TakeDelta(const std::vector<Resource>& resources,
                                  const std::vector<std::string>& removed) {
    DeltaDiscoveryResponse response;
    response.set_type_url(Url(Kind::kServiceEntry));
    response.set_nonce("n");
    for (const Resource& one : resources) {
      auto& out = *response.add_resources();
      out.set_name(one.metadata().name());
      out.set_version("v1");
      out.mutable_resource()->PackFrom(one);
    }
    for (const std::string& name : removed) response.add_removed_resources(name);
    const auto answer = session_.Take(response.SerializeAsString());
    DeltaDiscoveryRequest request;
    EXPECT_TRUE(answer.ok() && request.ParseFromString(*answer));
    return request;
  }
};

TEST_F(McpDeltaTest, ANewStreamSaysWhatIsThere) {
  session_.Begin();
  EXPECT_FALSE(
      TakeDelta({Entry("shop/a", "a.example.com"), Entry("shop/b", "b.example.com")}, {}).has_error_detail());
  EXPECT_TRUE(view_.complete());
  EXPECT_THAT(Changes(), ElementsAre("+ServiceEntry shop/a", "+ServiceEntry shop/b"));
  TakeDelta({}, {"shop/a"});
  EXPECT_THAT(Changes(), ElementsAre("-ServiceEntry shop/a"));
  TakeDelta({Entry("shop/c", "")}, {});
  DeltaDiscoveryRequest request;
  ASSERT_TRUE(request.ParseFromString(session_.Begin().at(0)));
  EXPECT_EQ(request.initial_resource_versions().size(), 1);  // c could not be read: it is sent again
  EXPECT_EQ(request.initial_resource_versions().at("shop/b"), "v1");
}

TEST(McpManifest, HasNumbersOfAllSizesAndTheVersion) {
  istio::networking::v1alpha3::DestinationRule rule;
  auto& policy = *rule.mutable_traffic_policy();
  auto& hash = *policy.mutable_load_balancer()->mutable_consistent_hash();
  hash.mutable_ring_hash()->set_minimum_ring_size(1'099'511'627'776);
  rule.add_subsets()->set_name("7");
  Resource resource;
  resource.mutable_metadata()->set_name("shop/reviews");
  resource.mutable_metadata()->set_version("42");
  resource.mutable_body()->PackFrom(rule);
  const auto manifest = ManifestOf(config::InfoOf(Kind::kDestinationRule), resource.SerializeAsString());
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_THAT(manifest->text, HasSubstr(R"("minimumRingSize":1099511627776)"));
  EXPECT_THAT(manifest->text, HasSubstr(R"("name":"7")")) << "a text that looks like a number";
  EXPECT_THAT(manifest->text, HasSubstr(R"("resourceVersion":"42")"));
}

TEST(McpOptions, MistakesAreNamed) {
  EXPECT_THAT(FromAbsl(ParseMcpOptions("xds://h/path").status().message()), HasSubstr("no path"));
  EXPECT_THAT(FromAbsl(ParseMcpOptions("xds://h?kinds=Pod").status().message()),
              HasSubstr("unknown kind: Pod"));
  EXPECT_THAT(FromAbsl(ParseMcpOptions("xds://h?namespace=a").status().message()), HasSubstr("namespace"));
  EXPECT_THAT(FromAbsl(ParseMcpOptions("xds://h?protocol=rest").status().message()), HasSubstr("protocol"));
  EXPECT_TRUE(
      ParseMcpOptions("xds://a,b:15012?tls=true&tokenFile=/t&node=me&services=true&protocol=delta").ok());
}

}  // namespace
}  // namespace fairlead::source
