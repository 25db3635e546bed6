#include "kube/served_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "config/read/json_reader.h"

namespace fairlead::kube {
namespace {

using config::InfoOf;
using config::Kind;
using ::testing::ElementsAre;

config::Tree Json(std::string_view text, const config::JsonFields* fields = nullptr) {
  config::JsonReader reader;
  auto tree = reader.Read(text, fields);
  EXPECT_TRUE(tree.ok()) << text;
  return *std::move(tree);
}

std::string Definition(std::string_view name, std::string_view versions, bool established = true) {
  return StrCat(R"({"metadata":{"name":")", name, R"("},"spec":{"versions":[)", versions,
                R"(]},"status":{"conditions":[{"type":"Established","status":")",
                established ? "True" : "False", R"("}]}})");
}

class ServedKindsTest : public ::testing::Test {
 protected:
  void Set(const std::string& definition) {
    served_.SetDefinition(Json(definition, &DefinitionFields()).root());
  }
  std::string Of(Kind kind) const { return served_.ApiVersionOf(InfoOf(kind)); }

  ServedKinds served_;
};

TEST_F(ServedKindsTest, AggregatedDiscoverySaysAll) {
  EXPECT_TRUE(served_.AddAggregated(Json(R"({"kind":"APIGroupDiscoveryList","items":[
    {"metadata":{"name":"networking.istio.io"},"versions":[
      {"version":"v1alpha3","resources":[{"resource":"virtualservices"},{"resource":"envoyfilters"}]},
      {"version":"v1beta1","resources":[{"resource":"virtualservices"}]}]},
    {"metadata":{"name":"other.io"},"versions":[{"version":"v1","resources":[{"resource":"gateways"}]}]}]})")
                                        .root()));
  EXPECT_TRUE(served_.AddAggregated(Json(R"({"kind":"APIGroupDiscoveryList","items":[
    {"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"pods"}]}]}]})")
                                        .root()));
  EXPECT_EQ(Of(Kind::kVirtualService), "networking.istio.io/v1beta1") << "the newest that both know";
  EXPECT_EQ(Of(Kind::kEnvoyFilter), "networking.istio.io/v1alpha3");
  EXPECT_EQ(Of(Kind::kPod), "v1");
  EXPECT_EQ(Of(Kind::kGateway), "") << "another group's";
  EXPECT_EQ(Of(Kind::kService), "");
}

TEST_F(ServedKindsTest, OlderServersAreAskedGroupByGroup) {
  const config::Tree groups = Json(R"({"kind":"APIGroupList","groups":[
    {"name":"apps","versions":[{"version":"v1"}]},
    {"name":"discovery.k8s.io","versions":[{"version":"v1"},{"version":"v2"}]}]})");
  EXPECT_FALSE(served_.AddAggregated(groups.root()));
  EXPECT_THAT(served_.PathsOf(groups.root()), ElementsAre("/api/v1", "/apis/discovery.k8s.io/v1"));
  served_.AddResources(
      Json(R"({"groupVersion":"discovery.k8s.io/v1","resources":[{"name":"endpointslices"}]})").root());
  served_.AddResources(
      Json(R"({"groupVersion":"v1","resources":[{"name":"services"},{"name":"services/status"}]})").root());
  EXPECT_EQ(Of(Kind::kEndpointSlice), "discovery.k8s.io/v1");
  EXPECT_EQ(Of(Kind::kService), "v1");
}

TEST_F(ServedKindsTest, DefinitionsKnowBetter) {
  served_.AddAggregated(
      Json(R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"networking.istio.io"},
    "versions":[{"version":"v1alpha3","resources":[{"resource":"gateways"}]}]}]})")
          .root());
  EXPECT_EQ(Of(Kind::kGateway), "networking.istio.io/v1alpha3");
  Set(Definition("gateways.networking.istio.io",
                 R"({"name":"v1","served":true},{"name":"v1alpha3","served":false})"));
  EXPECT_EQ(Of(Kind::kGateway), "networking.istio.io/v1");
  Set(Definition("gateways.networking.istio.io", R"({"name":"v1","served":true})", false));
  EXPECT_EQ(Of(Kind::kGateway), "") << "it is not accepted";
  Set(Definition("gateways.networking.istio.io", R"({"name":"v9","served":true})"));
  EXPECT_EQ(Of(Kind::kGateway), "") << "no version that is known";
}

TEST_F(ServedKindsTest, ADefinitionThatGoesTakesItsKindAlong) {
  const std::string text =
      Definition("httproutes.gateway.networking.k8s.io", R"({"name":"v1","served":true})");
  Set(text);
  EXPECT_EQ(Of(Kind::kHttpRoute), "gateway.networking.k8s.io/v1");
  served_.RemoveDefinition(Json(text).root());
  EXPECT_EQ(Of(Kind::kHttpRoute), "");
  Set(text);
  served_.BeginDefinitions();
  served_.EndDefinitions();
  EXPECT_EQ(Of(Kind::kHttpRoute), "") << "a new list does not have it";
}

TEST_F(ServedKindsTest, PathsAreThoseOfTheirGroups) {
  EXPECT_EQ(CollectionPath(InfoOf(Kind::kPod), "v1"), "/api/v1/pods");
  EXPECT_EQ(CollectionPath(InfoOf(Kind::kPod), "v1", "shop"), "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(CollectionPath(InfoOf(Kind::kNode), "v1", "shop"), "/api/v1/nodes");
  EXPECT_EQ(CollectionPath(InfoOf(Kind::kHttpRoute), "gateway.networking.k8s.io/v1"),
            "/apis/gateway.networking.k8s.io/v1/httproutes");
}

}  // namespace
}  // namespace fairlead::kube
