#include <gmock/gmock.h>

#include "gen/listener/listener_fixture.h"
#include "gen/telemetry/metrics.h"
#include "istio/envoy/extensions/stats/config.pb.h"

namespace fairlead::gen::listener {
namespace {

using istio::telemetry::v1alpha1::Telemetry;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class MetricsTest : public ListenerFixture {
 protected:
  void SetUp() override {
    AddVip("default", "db", "10.96.0.1", 5432, model::Protocol::kTcp);
    auto* provider = NewMeshConfig().add_extension_providers();
    provider->set_name("prometheus");
    provider->mutable_prometheus();
    NewMeshConfig().mutable_default_providers()->add_metrics("prometheus");
    SetSettings();
  }
  void PutTelemetry(const std::string& text) {
    Put(config::Kind::kTelemetry, "default", "t", mesh::Parse<Telemetry>(text));
  }
  FilterChain Outbound() { return Generated(Client()).at("10.96.0.1_5432").filter_chains(0); }
  // The catch-all for plaintext TCP.
  FilterChain Inbound() { return Generated(Client()).at("virtualInbound").filter_chains(4); }
};

TEST_F(MetricsTest, DefaultProvidersCountOnBothSides) {
  EXPECT_THAT(FilterNames(Outbound()), ElementsAre("istio.stats", "envoy.filters.network.tcp_proxy"));
  EXPECT_THAT(FilterNames(Inbound()),
              ElementsAre("istio.metadata_exchange", "istio.stats", "envoy.filters.network.tcp_proxy"));
  EXPECT_FALSE(
      Unpack<stats::PluginConfig>(Outbound().filters(0).typed_config()).disable_host_header_fallback());
  EXPECT_TRUE(
      Unpack<stats::PluginConfig>(Inbound().filters(1).typed_config()).disable_host_header_fallback());
}

TEST_F(MetricsTest, AllMetricsOffForOneSideLeavesItsFilterOut) {
  PutTelemetry("metrics { overrides { match { mode: SERVER } disabled { value: true } } }");
  EXPECT_THAT(FilterNames(Outbound()), Contains("istio.stats"));
  EXPECT_THAT(FilterNames(Inbound()), Not(Contains("istio.stats")));
}

TEST_F(MetricsTest, OverridesNameMetricsAndTags) {
  PutTelemetry(R"(metrics { reporting_interval { seconds: 9 }
      overrides { match { metric: REQUEST_COUNT mode: CLIENT }
                  tag_overrides { key: "drop" value { operation: REMOVE } }
                  tag_overrides { key: "zone" value { value: "node.metadata['ZONE']" } } }
      overrides { match { custom_metric: "mine" } disabled { value: true } } })");
  const auto config = Unpack<stats::PluginConfig>(Outbound().filters(0).typed_config());
  EXPECT_EQ(config.tcp_reporting_duration().seconds(), 9);
  ASSERT_EQ(config.metrics_size(), 2);
  EXPECT_EQ(config.metrics(0).name(), "requests_total");
  EXPECT_THAT(config.metrics(0).tags_to_remove(), ElementsAre("drop"));
  EXPECT_EQ(config.metrics(0).dimensions().at("zone"), "node.metadata['ZONE']");
  EXPECT_EQ(config.metrics(1).name(), "mine");
  EXPECT_TRUE(config.metrics(1).drop());
  EXPECT_EQ(Unpack<stats::PluginConfig>(Inbound().filters(1).typed_config()).metrics_size(), 1);
}

TEST_F(MetricsTest, AnotherProviderReplacesTheDefault) {
  PutTelemetry("metrics { providers { name: 'unknown' } }");
  EXPECT_THAT(FilterNames(Outbound()), Not(Contains("istio.stats")));
}

}  // namespace
}  // namespace fairlead::gen::listener
