#include "config/lost_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

// Policies that cannot be read: which texts are about one, and whom its denial is for.
namespace fairlead::config {
namespace {

using istio::security::v1beta1::AuthorizationPolicy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPolicy[] = R"(apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: a}
spec:
  selector: {matchLabels: {app: web}}
  action: DENY
  rules:
  - from: [{source: {namespaces: [evil]}}]
)";

std::string Policy(std::string_view from, std::string_view to) { return ReplaceAll(kPolicy, from, to); }

// "a/p:1 app=web": of each lost policy the name, the line and whose requests are denied.
std::vector<std::string> LostIn(std::string_view text) {
  std::vector<std::string> all;
  for (const LostPolicy& one : ParseManifests(text, "mesh/f.yaml").lost_policies) {
    std::string& said = all.emplace_back(StrCat(one.ns, "/", one.name, ":", one.line));
    if (one.denial == nullptr) {
      ADD_FAILURE() << "nothing is denied for " << said;
      continue;
    }
    const auto& spec = one.denial->Spec<AuthorizationPolicy>();
    EXPECT_EQ(spec.action(), AuthorizationPolicy::DENY);
    EXPECT_EQ(spec.rules_size(), 1);
    EXPECT_TRUE(IsDenialOfLost(KeyOf(*one.denial)));
    EXPECT_EQ(one.denial->ns().str(), one.ns);
    for (const auto& [key, value] : spec.selector().match_labels()) StrAppend(&said, " ", key, "=", value);
    for (const auto& target : spec.targetrefs()) StrAppend(&said, " ", target.kind(), " ", target.name());
  }
  return all;
}

TEST(LostPolicyTest, GoodOnesAndOthersAreNot) {
  EXPECT_THAT(LostIn(kPolicy), IsEmpty());
  EXPECT_THAT(LostIn("apiVersion: v1\nkind: Service\nmetadata: {name: S}\nspec: {ports: x}\n"), IsEmpty());
  EXPECT_THAT(LostIn("kind: Deployment\nspec: ["), IsEmpty());
  // Another mesh's.
  for (const char* version : {"policy.linkerd.io/v1alpha1", "security.example.com/v1"}) {
    EXPECT_THAT(LostIn(Policy("security.istio.io/v1", version)), IsEmpty()) << version;
    EXPECT_THAT(LostIn(StrCat(Policy("security.istio.io/v1", version), "x: [")), IsEmpty()) << version;
  }
  EXPECT_THAT(
      LostIn(Policy("namespace: a", "namespace: a, annotations: {istio.io/dry-run: 'true'}") + "x: 1\n"),
      IsEmpty());
}

TEST(LostPolicyTest, MistakesLeaveTheSelector) {
  for (const std::string& text :
       {Policy("rules:", "rulez:"), Policy("DENY", "deny"),
        Policy("AuthorizationPolicy", "AuthorisationPolicy"),
        Policy("AuthorizationPolicy", "authorizationpolicy"),
        Policy("security.istio.io/v1", "security.istio.io/v2"),
        Policy("security.istio.io", "security.istio.oi"), Policy("security.istio.io", "secruity.istio.io"),
        Policy("kind: AuthorizationPolicy\n", ""), Policy("apiVersion: security.istio.io/v1\n", "foo: bar\n"),
        Policy("security.istio.io/v1", "v1")})
    EXPECT_THAT(LostIn(text), ElementsAre("a/p:1 app=web")) << text;
  EXPECT_THAT(LostIn(Policy("name: p", "name: P")), ElementsAre("a/:1 app=web"));
  EXPECT_THAT(LostIn(Policy("name: p, ", "")), ElementsAre("a/:1 app=web"));
  EXPECT_THAT(LostIn(Policy("name: p", "name: null")), ElementsAre("a/:1 app=web"));
  EXPECT_THAT(LostIn(Policy("selector: {matchLabels: {app: web}}",
                            "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}]") +
                     "x: 1\n"),
              ElementsAre("a/p:1 Gateway g"));
}

TEST(LostPolicyTest, ASelectorThatCannotBeReadIsTheWholeNamespace) {
  EXPECT_THAT(LostIn(Policy("{app: web}", "[app, web]")), ElementsAre("a/p:1"));
  EXPECT_THAT(LostIn(Policy("matchLabels", "matchLabelz")), ElementsAre("a/p:1"));
  EXPECT_THAT(LostIn(Policy("metadata: {name: p, namespace: a}", "metadata: []")),
              ElementsAre("default/:1 app=web"));
}

TEST(LostPolicyTest, TextThatIsNoYaml) {
  EXPECT_THAT(LostIn(Policy("rules:", "rules: [")), ElementsAre("a/p:1"));
  EXPECT_THAT(LostIn(StrCat("{{- if .x }}\n", kPolicy)), ElementsAre("a/p:1"));
  EXPECT_THAT(LostIn(StrCat("<<<<<<< HEAD\n", kPolicy, "=======\n>>>>>>> x\n")), ElementsAre("a/p:1"));
  EXPECT_THAT(LostIn(StrCat("a: [\n---\n", Policy("rules:", "\trules:"))), ElementsAre("a/p:2"));
  EXPECT_THAT(LostIn(R"({"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
    "metadata": {"namespace": "a"}, "spec": {"mtls": }}})"),
              ElementsAre("a/:1"));
  EXPECT_THAT(LostIn(Policy("DENY", "!!int DENY")), ElementsAre("a/p:1"));
}

TEST(LostPolicyTest, ItemsOfAList) {
  EXPECT_THAT(LostIn("apiVersion: v1\nkind: List\nitems:\n"
                     "- apiVersion: security.istio.io/v1\n  kind: PeerAuthentication\n"
                     "  metadata: {name: q, namespace: b}\n  spec: {mtls: {mode: STRIKT}}\n"),
              ElementsAre("b/q:4"));
}

TEST(LostPolicyTest, AnObjectWithAnImproperNameMayBeAnyOfTheFile) {
  EXPECT_TRUE(ParseManifests(Policy("name: p", "name: P"), "f").unreadable);
  EXPECT_FALSE(ParseManifests(Policy("rules:", "rulez:"), "f").unreadable);
  EXPECT_TRUE(ParseManifests(Policy("security.istio.io", "security.istio.oi"), "f").unreadable);
}

}  // namespace
}  // namespace fairlead::config
