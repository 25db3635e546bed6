#include "gen/policy/locality_lb.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::gen {
namespace {

using testing::ElementsAre;

// Groups of one endpoint each, described as "region/zone/subzone"; labels are given by the tests.
class LocalityLbTest : public testing::Test {
 protected:
  void Add(std::string_view locality, LabelMap labels = {}, uint32_t weight = 1) {
    LocalityGroup& group = groups_.emplace_back();
    const model::Locality where = model::Locality::Parse(locality);
    group.message.mutable_locality()->set_region(where.region.str());
    group.message.mutable_locality()->set_zone(where.zone.str());
    group.message.mutable_locality()->set_sub_zone(where.subzone.str());
    AddTo(&group, std::move(labels), weight);
  }
  void AddTo(LocalityGroup* group, LabelMap labels, uint32_t weight = 1) {
    auto workload = std::make_shared<model::Workload>();
    workload->labels = std::move(labels);
    model::Endpoint& endpoint = endpoints_.emplace_back();
    endpoint.workload = workload;
    group->message.add_lb_endpoints()->mutable_load_balancing_weight()->set_value(weight);
    const uint32_t total = group->message.load_balancing_weight().value() + weight;
    group->message.mutable_load_balancing_weight()->set_value(total);
    group->members.push_back({.endpoint = &endpoint});
  }
  LocalityPolicy Policy(const std::string& text) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &settings_)) << text;
    return ResolveLocalityPolicy(mesh_, &settings_, service_);
  }
  void Apply(const LocalityPolicy& policy, std::string_view client, const LabelMap& labels = {},
             bool failover = true) {
    LocalityClient from{model::Locality::Parse(client), labels, !labels.empty()};
    ApplyLocalityPolicy(policy, from, failover, /*by_labels=*/true, &groups_);
  }
  std::vector<std::pair<std::string, uint32_t>> Priorities() const {
    std::vector<std::pair<std::string, uint32_t>> out;
    out.reserve(groups_.size());
    for (const auto& g : groups_) out.emplace_back(g.message.locality().region(), g.message.priority());
    return out;
  }
  std::vector<uint32_t> Weights() const {
    std::vector<uint32_t> out;
    out.reserve(groups_.size());
    for (const auto& g : groups_) out.push_back(g.message.load_balancing_weight().value());
    return out;
  }

  istio::mesh::v1alpha1::MeshConfig mesh_;
  model::Service service_;
  api::LoadBalancerSettings settings_;
  std::vector<LocalityGroup> groups_;
  std::deque<model::Endpoint> endpoints_;
};

TEST_F(LocalityLbTest, FailoverByDistanceHasNoGaps) {
  Add("r1/z1/s1"), Add("r1/z1/s2"), Add("r1/z2/s1"), Add("r2/z1/s1");
  Apply(Policy("locality_lb_setting {}"), "r1/z1/s1");
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r1", 1u), std::pair("r1", 2u),
                                        std::pair("r2", 3u)));
  groups_.clear();
  Add("r2/z1"), Add("r3/z1");
  Apply(Policy("locality_lb_setting {}"), "r1/z1/s1");
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r2", 0u), std::pair("r3", 0u)));
}

TEST_F(LocalityLbTest, FailoverRuleNamesTheNextRegion) {
  Add("r1"), Add("r2"), Add("r3");
  Apply(Policy(R"(locality_lb_setting { failover { from: "r1" to: "r3" } })"), "r1");
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r2", 2u), std::pair("r3", 1u)));
}

TEST_F(LocalityLbTest, WithoutOutlierDetectionNothingFailsOver) {
  Add("r1"), Add("r2");
  Apply(Policy("locality_lb_setting {}"), "r2", {}, /*failover=*/false);
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r2", 0u)));
}

TEST_F(LocalityLbTest, TrafficDistributionFailsOverWithout) {
  service_.traffic_distribution = model::TrafficDistribution::kPreferSameZone;
  Add("r1", {{"topology.kubernetes.io/region", "r1"}, {"topology.kubernetes.io/zone", "z1"}});
  Add("r2", {{"topology.kubernetes.io/region", "r2"}, {"topology.kubernetes.io/zone", "z1"}});
  const LabelMap client{{"topology.kubernetes.io/region", "r2"}, {"topology.kubernetes.io/zone", "z1"}};
  Apply(Policy(""), "r2/z1", client, /*failover=*/false);
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 1u), std::pair("r2", 0u)));
}

TEST_F(LocalityLbTest, LabelsSplitAGroup) {
  Add("r1", {{"version", "v1"}}, 3);
  AddTo(&groups_[0], {{"version", "v2"}}, 4);
  Apply(Policy(R"(locality_lb_setting { failover_priority: "version" })"), "r1", {{"version", "v2"}});
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r1", 1u)));
  EXPECT_THAT(Weights(), ElementsAre(4, 3));
}

TEST_F(LocalityLbTest, AnOverriddenLabelValueCounts) {
  Add("r1", {{"version", "v1"}}), Add("r2", {{"version", "v2"}});
  Apply(Policy(R"(locality_lb_setting { failover_priority: "version=v1" })"), "r9", {{"version", "v2"}});
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r2", 1u)));
}

TEST_F(LocalityLbTest, AnotherNetworkComesLastWhateverElseMatches) {
  const LabelMap here{{"topology.istio.io/network", "n1"}, {"version", "v1"}};
  Add("r1", {{"topology.istio.io/network", "n2"}, {"version", "v1"}});
  Add("r2", {{"topology.istio.io/network", "n1"}, {"version", "v9"}});
  Apply(Policy(R"(locality_lb_setting { failover_priority: "topology.istio.io/network"
                                        failover_priority: "version" })"),
        "r1", here);
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 1u), std::pair("r2", 0u)));
}

TEST_F(LocalityLbTest, AClientWithoutLabelsHasNoPriorities) {
  Add("r1", {{"version", "v1"}}), Add("r2", {});
  Apply(Policy(R"(locality_lb_setting { failover_priority: "version" })"), "r1");
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r2", 0u)));
}

TEST_F(LocalityLbTest, DistributeSharesWeightsAndDropsTheRest) {
  Add("r1/z1", {}, 1), Add("r1/z2", {}, 3), Add("r2/z1"), Add("r3/z1");
  Apply(Policy(R"(locality_lb_setting { distribute { from: "r1/*" to { key: "r1/*" value: 80 }
                                                     to { key: "r2" value: 20 } } })"),
        "r1/z1", {}, /*failover=*/false);
  EXPECT_THAT(Weights(), ElementsAre(20, 60, 20, 1));
  EXPECT_EQ(groups_[3].message.lb_endpoints_size(), 0);
}

TEST_F(LocalityLbTest, ZoneAwareKeepsTheRegionTogether) {
  Add("r1/z1"), Add("r1/z2"), Add("r2/z1"), Add("r3/z1");
  Apply(Policy(R"(zone_aware_lb_setting { failover { from: "r1" to: "r3" } })"), "r1/z1", {},
        /*failover=*/false);
  EXPECT_THAT(Priorities(), ElementsAre(std::pair("r1", 0u), std::pair("r1", 0u), std::pair("r2", 2u),
                                        std::pair("r3", 1u)));
}

TEST_F(LocalityLbTest, TheRuleWinsOverTheMesh) {
  mesh_.mutable_locality_lb_setting()->add_failover_priority("version");
  EXPECT_EQ(Policy("").locality, &mesh_.locality_lb_setting());
  EXPECT_EQ(Policy("locality_lb_setting { enabled { value: false } }").locality, nullptr);
  EXPECT_NE(Policy("zone_aware_lb_setting {}").zone_aware, nullptr);
}

TEST_F(LocalityLbTest, NeedsAreNarrow) {
  EXPECT_FALSE(NeedsOf(Policy("locality_lb_setting {}"), /*failover=*/false).locality);
  EXPECT_TRUE(NeedsOf(Policy("locality_lb_setting {}"), /*failover=*/true).locality);
  const LocalityNeeds needs =
      NeedsOf(Policy(R"(locality_lb_setting { failover_priority: "a" failover_priority: "b=1" })"), true);
  EXPECT_FALSE(needs.locality);
  EXPECT_THAT(needs.labels, ElementsAre("a"));
}

}  // namespace
}  // namespace fairlead::gen
