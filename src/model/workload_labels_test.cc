#include "model/workload_labels.h"

#include "gtest/gtest.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/label_selector.h"
#include "model/spiffe.h"

namespace fairlead::model {
namespace {

TEST(Locality, TextWithoutTrailingEmptyParts) {
  EXPECT_EQ(Locality::Parse("r/z/s").ToString(), "r/z/s");
  EXPECT_EQ(Locality::Parse("r/z/").ToString(), "r/z");
  EXPECT_EQ(Locality::Parse("r").ToString(), "r");
  EXPECT_TRUE(Locality::Parse("").empty());
  EXPECT_EQ(Locality::Parse("r/z/s/more"), Locality::Parse("r/z/s"));
}

TEST(LocalityLabelOf, DotsStandForSlashesUnlessThereAreSome) {
  EXPECT_EQ(LocalityLabelOf({{"istio-locality", "r.z.s"}}), "r/z/s");
  EXPECT_EQ(LocalityLabelOf({{"istio-locality", "r.1/z"}}), "r.1/z");
  EXPECT_EQ(LocalityLabelOf({{"istio-locality", "old"}, {"topology.istio.io/locality", "new"}}), "new");
  EXPECT_EQ(LocalityLabelOf({{"app", "web"}}), "");
}

TEST(WithTopologyLabels, KeepsTheOwnNetworkLabelAlone) {
  const LabelMap labels = WithTopologyLabels({{"app", "web"}, {"topology.istio.io/network", "own"}}, "c1",
                                             Locality::Parse("r/z"), "node-1", "other");
  EXPECT_EQ(labels, (LabelMap{{"app", "web"},
                              {"kubernetes.io/hostname", "node-1"},
                              {"topology.istio.io/cluster", "c1"},
                              {"topology.istio.io/network", "own"},
                              {"topology.kubernetes.io/region", "r"},
                              {"topology.kubernetes.io/zone", "z"}}));
}

LabelSelector Selector(std::string_view key, std::string_view op, std::initializer_list<const char*> values) {
  istio::mesh::v1alpha1::LabelSelector proto;
  auto* expression = proto.add_matchexpressions();
  expression->set_key(std::string(key));
  expression->set_operator_(std::string(op));
  for (const char* value : values) expression->add_values(value);
  return *LabelSelector::Parse(proto);
}

TEST(LabelSelector, Operators) {
  EXPECT_TRUE(Selector("env", "In", {"a", "b"}).Matches({{"env", "b"}}));
  EXPECT_FALSE(Selector("env", "In", {"a"}).Matches({}));
  EXPECT_TRUE(Selector("env", "NotIn", {"a"}).Matches({}));
  EXPECT_FALSE(Selector("env", "NotIn", {"a"}).Matches({{"env", "a"}}));
  EXPECT_TRUE(Selector("env", "Exists", {}).Matches({{"env", ""}}));
  EXPECT_TRUE(Selector("env", "DoesNotExist", {}).Matches({{"app", ""}}));
  EXPECT_TRUE(LabelSelector().Matches({})) << "no requirement: everything matches";
}

TEST(LabelSelector, RefusesMalformedExpressions) {
  istio::mesh::v1alpha1::LabelSelector proto;
  proto.add_matchexpressions()->set_operator_("Near");
  EXPECT_FALSE(LabelSelector::Parse(proto).ok());
  proto.mutable_matchexpressions(0)->set_operator_("In");
  EXPECT_FALSE(LabelSelector::Parse(proto).ok()) << "In needs values";
}

TEST(SpiffeId, ReplacesTheAtSign) {
  EXPECT_EQ(SpiffeId("cluster.local", "default", "web"), "spiffe://cluster.local/ns/default/sa/web");
  EXPECT_EQ(SpiffeId("a@b", "n", "s"), "spiffe://a.b/ns/n/sa/s");
}

}  // namespace
}  // namespace fairlead::model
