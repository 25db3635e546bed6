#include "config/read/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> Keys(const ParseResult& result) {
  std::vector<std::string> keys;
  keys.reserve(result.objects.size());
  for (const ConfigPtr& object : result.objects) keys.push_back(Describe(KeyOf(*object)));
  return keys;
}

std::vector<std::string> Texts(const ParseResult& result) {
  std::vector<std::string> texts;
  texts.reserve(result.diagnostics.size());
  for (const Diagnostic& diagnostic : result.diagnostics) texts.push_back(ToText(diagnostic));
  return texts;
}

constexpr std::string_view kVirtualService = R"(apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, namespace: shop, labels: {a: b}, creationTimestamp: "2026-01-02T03:04:05Z"}
spec:
  hosts: [reviews]
  http:
  - route:
    - destination: {host: reviews}
      weight: 75
)";

TEST(ManifestsTest, ReadsAnIstioObject) {
  const ParseResult result = ParseManifests(kVirtualService, "a.yaml");
  EXPECT_THAT(Texts(result), IsEmpty());
  ASSERT_THAT(Keys(result), ElementsAre("VirtualService shop/reviews"));
  const ConfigObject& object = *result.objects[0];
  const auto& spec = object.Spec<istio::networking::v1alpha3::VirtualService>();
  EXPECT_EQ(spec.hosts(0), "reviews");
  EXPECT_EQ(spec.http(0).route(0).weight(), 75);
  EXPECT_EQ(object.meta().labels.at("a"), "b");
  EXPECT_EQ(object.meta().creation_time, 1767323045);
  EXPECT_EQ(object.origin().file, "a.yaml");
  EXPECT_EQ(object.origin().line, 1);
  EXPECT_EQ(object.origin().api_version, "networking.istio.io/v1");
}

TEST(ManifestsTest, ReadsEveryVersionOfAKind) {
  for (std::string_view version : {"v1", "v1beta1", "v1alpha3"}) {
    const std::string text =
        ReplaceAll(kVirtualService, "networking.istio.io/v1", StrCat("networking.istio.io/", version));
    EXPECT_THAT(Keys(ParseManifests(text, "a")), ElementsAre("VirtualService shop/reviews"));
  }
  const ParseResult result = ParseManifests(ReplaceAll(kVirtualService, "io/v1", "io/v7"), "a");
  EXPECT_THAT(Texts(result), ElementsAre(HasSubstr("unknown-version")));
  EXPECT_TRUE(result.unreadable);
}

TEST(ManifestsTest, AMistakeCostsItsObjectAlone) {
  const std::string text =
      StrCat(kVirtualService, "---\n",
             ReplaceAll(ReplaceAll(kVirtualService, "weight", "weigth"), "name: reviews", "name: other"),
             "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n");
  const ParseResult result = ParseManifests(text, "dir/a.yaml");
  EXPECT_THAT(Keys(result), ElementsAre("VirtualService shop/reviews", "Namespace shop"));
  EXPECT_THAT(Texts(result),
              ElementsAre("dir/a.yaml:19: error: VirtualService shop/other: spec.http[0].route[0].weigth: "
                          "unknown field; did you mean \"weight\"? (unknown-field)"));
  ASSERT_EQ(result.broken.size(), 1u);
  EXPECT_EQ(Describe(result.broken[0]), "VirtualService shop/other");
  EXPECT_FALSE(result.unreadable);
}

TEST(ManifestsTest, SaysEveryMistakeOfAnObject) {
  const ParseResult result = ParseManifests(R"(apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: a, nmaespace: b}
spec:
  hosts: reviews
  http:
  - timeout: 5
    retries: {attempts: many, perTryTimeout: 1 hour}
  - match:
    - uri: {exact: /a, prefix: /b}
    route:
    - weight: 99999999999
  hosts: [a]
extra: 1
)",
                                            "f");
  EXPECT_THAT(
      Texts(result),
      UnorderedElementsAre(
          HasSubstr("f:13: error: VirtualService default/a: spec.hosts: this key is there twice"),
          HasSubstr("f:3: error: VirtualService default/a: metadata.nmaespace: unknown field; did you mean "
                    "\"namespace\"?"),
          HasSubstr("f:5: error: VirtualService default/a: spec.hosts: expected a list, got string "
                    "\"reviews\" (wrong-type)"),
          HasSubstr(
              "spec.http[0].timeout: expected a duration such as 1.5s or 1h30m, got integer 5 (wrong-type)"),
          HasSubstr("spec.http[0].retries.attempts: expected an integer, got string \"many\" (wrong-type)"),
          HasSubstr("spec.http[0].retries.perTryTimeout: \"1 hour\" is not a duration such as 1.5s or 1h30m "
                    "(wrong-duration)"),
          HasSubstr("f:10: error: VirtualService default/a: spec.http[1].match[0].uri.prefix: cannot be set "
                    "together with exact (conflicting-fields)"),
          HasSubstr("spec.http[1].route[0].weight: 99999999999 is out of range: from -2147483648 to "
                    "2147483647 (out-of-range)"),
          HasSubstr("f:14: error: VirtualService default/a: extra: unknown field")));
  EXPECT_THAT(Keys(result), IsEmpty());
  EXPECT_EQ(result.broken.size(), 1u);
}

TEST(ManifestsTest, ABrokenDocumentLeavesTheOthers) {
  const ParseResult result = ParseManifests(StrCat("a: [\n---\n", kVirtualService, "---\nb: {\n"), "f");
  EXPECT_THAT(Keys(result), ElementsAre("VirtualService shop/reviews"));
  EXPECT_EQ(result.objects[0]->origin().line, 3);
  EXPECT_TRUE(result.unreadable);
  EXPECT_THAT(Texts(result), ElementsAre(HasSubstr("f:2: error:"), HasSubstr("yaml-syntax")));
}

TEST(ManifestsTest, WantsAKindAndAName) {
  EXPECT_THAT(Texts(ParseManifests("[1]", "f")),
              ElementsAre(HasSubstr("f:1: error: a manifest is a mapping")));
  EXPECT_THAT(Texts(ParseManifests("kind: Service", "f")), ElementsAre(HasSubstr("apiVersion is missing")));
  EXPECT_THAT(Texts(ParseManifests("apiVersion: v1", "f")), ElementsAre(HasSubstr("kind is missing")));
  const ParseResult result = ParseManifests("{apiVersion: v1, kind: Service, metadata: {}}", "f");
  EXPECT_THAT(Texts(result),
              ElementsAre(HasSubstr("metadata.name: this Service has no name (missing-field)")));
  EXPECT_TRUE(result.unreadable);
}

TEST(ManifestsTest, ANamespaceThatYamlReadsAsABooleanIsNamed) {
  const ParseResult result =
      ParseManifests("{apiVersion: v1, kind: Service, metadata: {name: a, namespace: n}}", "f");
  EXPECT_THAT(
      Texts(result),
      ElementsAre(HasSubstr("Service false/a: metadata.namespace: expected a string, got boolean false")));
  EXPECT_EQ(result.broken.size(), 1u);
}

TEST(ManifestsTest, PassesOtherKindsOver) {
  EXPECT_THAT(Texts(ParseManifests(
                  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {x: 1}}", "f")),
              IsEmpty());
  EXPECT_THAT(Texts(ParseManifests("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}", "f")),
              IsEmpty());
  EXPECT_THAT(
      Texts(ParseManifests("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", "f")),
      IsEmpty());
  EXPECT_THAT(Texts(ParseManifests("{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}", "f")),
              ElementsAre("f:1: warning: example.com/v1 Thing is not read (unknown-kind)"));
  EXPECT_THAT(Texts(ParseManifests("{name: web, version: 1.0.0}", "f")),
              ElementsAre("f:1: warning: no manifest: it has neither apiVersion nor kind (unknown-kind)"));
  EXPECT_THAT(Texts(ParseManifests("{apiVersion: v2, name: web, version: 1.0.0}", "Chart.yaml")),
              ElementsAre(HasSubstr("warning: a Helm chart's description is not read")));
  EXPECT_THAT(Texts(ParseManifests("{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator}", "f")),
              ElementsAre(HasSubstr("warning: install.istio.io/v1alpha1 IstioOperator is not read")));
}

TEST(ManifestsTest, AKindThatItsGroupDoesNotHaveIsAMistake) {
  const ParseResult result = ParseManifests("{apiVersion: networking.istio.io/v1, kind: VirtualServce}", "f");
  EXPECT_THAT(Texts(result), ElementsAre(HasSubstr("error: kind: networking.istio.io/v1 has no kind "
                                                   "VirtualServce; did you mean \"VirtualService\"?")));
  EXPECT_TRUE(result.unreadable);
  EXPECT_THAT(Texts(ParseManifests("{apiVersion: v1, kind: Servise, metadata: {name: a}}", "f")),
              ElementsAre(HasSubstr("error: kind: v1 has no kind Servise; did you mean \"Service\"?")));
}

TEST(ManifestsTest, TheFirstOfTwoCounts) {
  const ParseResult result =
      ParseManifests(StrCat(kVirtualService, "---\n", ReplaceAll(kVirtualService, "75", "25")), "f");
  ASSERT_EQ(result.objects.size(), 1u);
  EXPECT_EQ(result.objects[0]->Spec<istio::networking::v1alpha3::VirtualService>().http(0).route(0).weight(),
            75);
  EXPECT_THAT(Texts(result), ElementsAre("f:11: error: VirtualService shop/reviews: the same object is at "
                                         "line 1, which counts (duplicate-object)"));
}

TEST(ManifestsTest, TakesListsApart) {
  const ParseResult result = ParseManifests(R"(
apiVersion: v1
kind: List
metadata: {resourceVersion: "1"}
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- {apiVersion: v1, kind: Namespace, metadata: {name: b}, speck: {}}
- {apiVersion: apps/v1, kind: Deployment}
---
apiVersion: v1
kind: NamespaceList
items:
- {apiVersion: v1, metadata: {name: c}}
)",
                                            "f");
  EXPECT_THAT(Keys(result), ElementsAre("Namespace a", "Namespace c"));
  EXPECT_THAT(
      Texts(result),
      ElementsAre(HasSubstr("f:7: error: Namespace b: speck: unknown field; did you mean \"spec\"?")));
}

TEST(ManifestsTest, HashesWhatAnObjectSays) {
  const auto hash = [](std::string_view text) {
    return ParseManifests(text, "f").objects.at(0)->content_hash();
  };
  const Hash128 before = hash(kVirtualService);
  EXPECT_EQ(before, hash(StrCat("# comment\n", ReplaceAll(kVirtualService, "io/v1", "io/v1beta1"),
                                "status: {x: 1}\n")));
  EXPECT_NE(before, hash(ReplaceAll(kVirtualService, "75", "74")));
  EXPECT_NE(before, hash(ReplaceAll(kVirtualService, "a: b", "a: c")));
  EXPECT_NE(before, hash(ReplaceAll(kVirtualService, "03:04:05Z", "03:04:06Z")));
}

TEST(ManifestsTest, KeepsTheStatusThatCounts) {
  const ParseResult result = ParseManifests(R"(
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: a, generateName: group-}
spec: {address: 1.2.3.4}
status: {conditions: [{type: Healthy, status: "False", lastProbeTime: "2026-01-01T00:00:00Z"}]}
)",
                                            "f");
  ASSERT_THAT(Texts(result), IsEmpty());
  ASSERT_NE(result.objects.at(0)->status(), nullptr);
  EXPECT_EQ(result.objects[0]->status()->conditions.at(0), (ObjectStatus::Condition{"Healthy", "False"}));
  EXPECT_EQ(result.objects[0]->meta().generate_name, "group-");
}

}  // namespace
}  // namespace fairlead::config
