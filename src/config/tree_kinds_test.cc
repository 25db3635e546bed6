#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/schema/crd_schema.h"
#include "config/tree.h"

// The Gateway API's kinds and Ingress: documents that are kept as trees.
namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Parsed {
  ConfigPtr object;
  std::vector<std::string> mistakes;
};

Parsed Parse(std::string_view text) {
  Parsed parsed;
  const ParseResult result = ParseManifests(text, "f");
  if (result.objects.size() == 1) parsed.object = result.objects[0];
  for (const Diagnostic& diagnostic : result.diagnostics) parsed.mistakes.push_back(ToText(diagnostic));
  return parsed;
}

constexpr std::string_view kRoute = R"(apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: shop}
spec:
  parentRefs:
  - name: gw
  rules:
  - backendRefs:
    - {name: a, port: 80}
)";

TEST(GatewayApiTest, KeepsTheDocumentWithoutItsHead) {
  const Parsed parsed = Parse(kRoute);
  ASSERT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_EQ(parsed.object->kind(), Kind::kHttpRoute);
  const Node root = parsed.object->Spec<Tree>().root();
  EXPECT_FALSE(root.Find("metadata"));
  EXPECT_FALSE(root.Find("kind"));
  EXPECT_EQ(root.Find("spec").Find("parentRefs").At(0).Find("name").String(), "gw");
  EXPECT_EQ(root.Find("spec").Find("rules").At(0).Find("backendRefs").At(0).Find("port").Int(), 80);
  EXPECT_EQ(root.Find("spec").Find("rules").line(), 8);
}

TEST(GatewayApiTest, AWrittenStatusIsNotChecked) {
  for (const char* status : {"{parents: null}", "{}", "null", "{parents: [{other: 1}]}"}) {
    const Parsed parsed = Parse(StrCat(kRoute, "status: ", status, "\n"));
    EXPECT_THAT(parsed.mistakes, IsEmpty()) << status;
    EXPECT_NE(parsed.object, nullptr) << status;
  }
}

TEST(GatewayApiTest, FillsInTheDefaultsOfTheSchema) {
  const Parsed parsed = Parse(kRoute);
  const Node spec = parsed.object->Spec<Tree>().Find("spec");
  const Node parent = spec.Find("parentRefs").At(0);
  EXPECT_EQ(parent.Find("group").String(), "gateway.networking.k8s.io");
  EXPECT_EQ(parent.Find("kind").String(), "Gateway");
  const Node rule = spec.Find("rules").At(0);
  EXPECT_EQ(rule.Find("matches").At(0).Find("path").Find("type").String(), "PathPrefix");
  EXPECT_EQ(rule.Find("matches").At(0).Find("path").Find("value").String(), "/");
  EXPECT_EQ(rule.Find("backendRefs").At(0).Find("weight").Int(), 1);
  EXPECT_EQ(rule.Find("backendRefs").At(0).Find("kind").String(), "Service");
}

TEST(GatewayApiTest, DefaultsThatAreWrittenOutChangeNothing) {
  const std::string written =
      ReplaceAll(kRoute, "{name: a, port: 80}", "{port: 80, name: a, weight: 1, kind: Service, group: ''}");
  EXPECT_EQ(Parse(kRoute).object->content_hash(), Parse(written).object->content_hash());
  EXPECT_NE(Parse(kRoute).object->content_hash(),
            Parse(ReplaceAll(kRoute, "80", "81")).object->content_hash());
}

TEST(GatewayApiTest, SaysWhatIsWrong) {
  const auto with = [](std::string_view from, std::string_view to) {
    return Parse(ReplaceAll(kRoute, from, to)).mistakes;
  };
  EXPECT_THAT(
      with("port: 80", "prot: 80"),
      ElementsAre("f:9: error: HTTPRoute shop/r: spec.rules[0].backendRefs[0].prot: unknown field; did "
                  "you mean \"port\"? (unknown-field)"));
  EXPECT_THAT(
      with("port: 80", "port: '80'"),
      ElementsAre(HasSubstr("spec.rules[0].backendRefs[0].port: expected an integer, got string \"80\"")));
  EXPECT_THAT(with("port: 80", "port: 0"),
              ElementsAre(HasSubstr("the number must be at least 1 (out-of-range)")));
  EXPECT_THAT(with("name: a, ", ""),
              ElementsAre(HasSubstr("spec.rules[0].backendRefs[0].name: this field is required")));
  EXPECT_THAT(with("- backendRefs:", "- matches: [{method: FETCH}]\n    backendRefs:"),
              ElementsAre(HasSubstr("spec.rules[0].matches[0].method: unknown value FETCH")));
  EXPECT_THAT(with("spec:", "spce:"), ElementsAre(HasSubstr("spce: unknown field; did you mean \"spec\"?")));
  EXPECT_THAT(with("namespace: shop", "namspace: shop"),
              ElementsAre(HasSubstr("metadata.namspace: unknown field")));
}

TEST(GatewayApiTest, NullsAreTakenOut) {
  const Parsed parsed =
      Parse(ReplaceAll(kRoute, "- name: gw", "- {name: gw, sectionName: null, kind: null}"));
  ASSERT_THAT(parsed.mistakes, IsEmpty());
  const Node parent = parsed.object->Spec<Tree>().Find("spec").Find("parentRefs").At(0);
  EXPECT_FALSE(parent.Find("sectionName"));
  EXPECT_EQ(parent.Find("kind").String(), "Gateway");
}

TEST(CrdSchemaTest, IsThereForEveryKindOfTheGatewayApiAndOfIstio) {
  for (const KindInfo& info : AllKinds()) {
    const bool own = info.group == "gateway.networking.k8s.io" || info.group.ends_with(".istio.io") ||
                     info.kind == Kind::kXBackendTrafficPolicy;
    EXPECT_EQ(own, bool(CrdSchemaOf(info, info.versions[0]).Find("properties").Find("spec"))) << info.name;
  }
}

TEST(GatewayApiTest, KindsWithoutASchemaAreKeptAsTheyAre) {
  const Parsed parsed = Parse(
      "{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p}, spec: {a: {b: "
      "1}}}");
  ASSERT_THAT(parsed.mistakes, ElementsAre(HasSubstr("this has no effect")));
  EXPECT_EQ(parsed.object->Spec<Tree>().Find("spec").Find("a").Find("b").Int(), 1);
}

TEST(IngressTest, IsCheckedAndKept) {
  constexpr std::string_view kIngress = R"(apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec:
  rules:
  - host: a.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}
)";
  const Parsed parsed = Parse(kIngress);
  ASSERT_THAT(parsed.mistakes, IsEmpty());
  const Node path =
      parsed.object->Spec<Tree>().Find("spec").Find("rules").At(0).Find("http").Find("paths").At(0);
  EXPECT_EQ(path.Find("backend").Find("service").Find("port").Find("number").Int(), 80);
  EXPECT_THAT(Parse(ReplaceAll(kIngress, "pathType", "pathtype")).mistakes,
              ElementsAre(HasSubstr(
                  "spec.rules[0].http.paths[0].pathtype: unknown field; did you mean \"pathType\"?")));
  EXPECT_THAT(Parse(ReplaceAll(kIngress, "80", "'80'")).mistakes,
              ElementsAre(HasSubstr("expected an integer")));
  EXPECT_THAT(Parse("{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: c, namespace: "
                    "x}, spec: {controller: istio.io/ingress-controller}}")
                  .mistakes,
              IsEmpty());
}

}  // namespace
}  // namespace fairlead::config
