#include "config/read/no_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/read/manifests.h"

namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What is said of the manifests, but Istio's own warnings.
std::vector<std::string> Said(std::string_view text) {
  std::vector<std::string> said;
  for (const Diagnostic& one : ParseManifests(text, "a.yaml").diagnostics) {
    if (one.code == kNoEffectCode || one.severity == Severity::kError) said.push_back(ToText(one));
  }
  return said;
}

TEST(NoEffectTest, AKind) {
  EXPECT_THAT(
      Said("apiVersion: networking.istio.io/v1beta1\nkind: ProxyConfig\nmetadata: {name: p, namespace: ns}\n"
           "spec: {concurrency: 2}\n"),
      ElementsAre("a.yaml:1: warning: ProxyConfig ns/p: this has no effect: it is for the injection of "
                  "sidecars, which Fairlead does not do (not-acted-on)"));
}

TEST(NoEffectTest, AFieldOnceAnObject) {
  {
    const std::string name = "sourceSubnet";
    EXPECT_THAT(
        Said("apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: r, namespace: ns}\n"
             "spec:\n  hosts: [a.example.com]\n  tcp:\n  - match: [{port: 80}]\n"
             "    route: [{destination: {host: a.example.com}}]\n  - match:\n    - {port: 81}\n    - " +
             name + ": 10.0.0.0/8\n    - " + name +
             ": 11.0.0.0/8\n    route: [{destination: {host: a.example.com}}]\n"),
        ElementsAre("a.yaml:11: warning: VirtualService ns/r: spec.tcp[1].match[1].sourceSubnet: this has no "
                    "effect: neither Istio nor Fairlead acts on it (not-acted-on)"));
  }
}

TEST(NoEffectTest, AValue) {
  const std::string head =
      "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: e, namespace: "
      "ns}\nspec:\n"
      "  configPatches:\n";
  const std::string cluster = "  - applyTo: CLUSTER\n    patch: {operation: MERGE, value: {}}\n";
  EXPECT_THAT(Said(head + cluster), IsEmpty());
  EXPECT_THAT(
      Said(head + cluster + "  - applyTo: BOOTSTRAP\n    patch: {operation: MERGE, value: {}}\n"),
      ElementsAre("a.yaml:8: warning: EnvoyFilter ns/e: spec.configPatches[1].applyTo: this has no effect: a "
                  "bootstrap is made before discovery is asked, as with Istio (not-acted-on)"));
}

TEST(NoEffectTest, TheTableNamesFieldsOfItsKinds) {
  for (const NoEffect& row : NoEffectTable()) {
    EXPECT_TRUE(row.path.empty() || row.path.starts_with("spec.")) << row.path;
    EXPECT_FALSE(row.why.empty()) << row.path;
  }
}

}  // namespace
}  // namespace fairlead::config
