#include "injection/surroundings.h"

#include <gtest/gtest.h>

#include "injection/owner.h"
#include "injection/typed_json.h"
#include "injection/values.h"

namespace fairlead::injection {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(VariablesOfPathTest, NamesAndValuesAlternate) {
  EXPECT_EQ(VariablesOfPath("/inject"), Variables());
  EXPECT_EQ(VariablesOfPath("/inject/cluster/east/net/n1"),
            (Variables{{"ISTIO_META_CLUSTER_ID", "east"}, {"ISTIO_META_NETWORK", "n1"}}));
  EXPECT_EQ(VariablesOfPath("/inject/own/a--slash--b/"), (Variables{{"OWN", "a/b"}}));
  EXPECT_EQ(VariablesOfPath("/inject/net/n2/cluster"), (Variables{{"ISTIO_META_NETWORK", "n2"}}));
  EXPECT_EQ(VariablesOfPath("/inject/:ENV:a=b:ENV:c=:ENV:=d"), (Variables{{"A", "b"}, {"C", ""}}));
}

TEST(CanBeNativeTest, EveryNodeMustBeNewEnough) {
  PodSurroundings surroundings;
  EXPECT_FALSE(CanBeNative(surroundings, "unknown", ""));
  ClusterFacts& facts = surroundings.clusters["c"];
  EXPECT_TRUE(CanBeNative(surroundings, "c", ""));
  facts.nodes = {{"new", "v1.33.0"}, {"newer", "v1.34.2-gke.100"}};
  EXPECT_TRUE(CanBeNative(surroundings, "c", ""));
  facts.nodes.push_back({"old", "v1.32.9+k3s1"});
  EXPECT_FALSE(CanBeNative(surroundings, "c", ""));
  EXPECT_TRUE(CanBeNative(surroundings, "c", "new"));
  EXPECT_FALSE(CanBeNative(surroundings, "c", "gone"));
  facts.nodes = {{"odd", "unknown"}};
  EXPECT_FALSE(CanBeNative(surroundings, "c", ""));
  surroundings.native = NativeSidecars::kAlways;
  EXPECT_TRUE(CanBeNative(surroundings, "c", ""));
}

TEST(ProxyIdsTest, AreTheLastOfTheRanges) {
  const auto ids = [](const LabelMap& annotations) {
    const ProxyIds found = ProxyIdsOf(annotations);
    return std::pair(found.user, found.group);
  };
  EXPECT_EQ(ids({}), std::pair(int64_t{1337}, int64_t{1337}));
  EXPECT_EQ(ids({{"openshift.io/sa.scc.uid-range", "1000/10"}}), std::pair(int64_t{1009}, int64_t{1009}));
  EXPECT_EQ(ids({{"openshift.io/sa.scc.uid-range", "5000-5999"},
                 {"openshift.io/sa.scc.supplemental-groups", "20/5,5-7"}}),
            std::pair(int64_t{5999}, int64_t{24}));
  EXPECT_EQ(ids({{"openshift.io/sa.scc.uid-range", "many"}, {"openshift.io/sa.scc.supplemental-groups", ""}}),
            std::pair(int64_t{1337}, int64_t{1337}));
}

TEST(OwnerTest, GoesBeyondWhatMadeThePod) {
  const auto owner = [](std::string_view kind, std::string_view name, Json labels) {
    const Json pod = {{"metadata",
                       {{"generateName", "x-"},
                        {"namespace", "n"},
                        {"labels", std::move(labels)},
                        {"ownerReferences",
                         {{{"apiVersion", "v"}, {"kind", kind}, {"name", name}, {"controller", true}}}}}}};
    const Owner found = OwnerOf(pod);
    return found.kind + "/" + found.name;
  };
  EXPECT_EQ(owner("ReplicaSet", "shop-abc", {{"pod-template-hash", "abc"}}), "Deployment/shop");
  EXPECT_EQ(owner("ReplicaSet", "shop-abc", {{"rollouts-pod-template-hash", "abc"}}), "Rollout/shop");
  EXPECT_EQ(owner("ReplicaSet", "shop-abc", Json::object()), "ReplicaSet/shop-abc");
  EXPECT_EQ(owner("ReplicationController", "shop-1", {{"deploymentconfig", "shop"}}),
            "DeploymentConfig/shop");
  EXPECT_EQ(owner("Job", "nightly-28123456", Json::object()), "CronJob/nightly");
  EXPECT_EQ(owner("Job", "nightly-2812345", Json::object()), "Job/nightly-2812345");
}

TEST(ValuesTest, TheImageTypeReplacesTheTags) {
  const auto values = ReadValues(*ReadYaml("{global: {hub: h, tag: 1.2-debug, variant: distroless}}"));
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(ProxyImage(*values, "", nullptr), "h/proxyv2:1.2-distroless");
  const std::string none = "default", own = "own";
  EXPECT_EQ(ProxyImage(*values, "", &none), "h/proxyv2:1.2");
  EXPECT_EQ(ProxyInitImage(*values, &own), "h/proxyv2:1.2-own");
  EXPECT_EQ(
      ReadValues(*ReadYaml("{global: {hub: 5}}")).status().message(),
      "could not parse configuration values: json: cannot unmarshal number into Go value of type string");
}

}  // namespace
}  // namespace fairlead::injection
