#include <gmock/gmock.h>

#include "gen/listener/listener_fixture.h"

namespace fairlead::gen::listener {
namespace {

using model::Protocol;
using testing::ElementsAre;

class OutboundRoutesTest : public ListenerFixture {
 protected:
  void SetUp() override {
    AddVip("default", "db", "10.96.0.1", 5432, Protocol::kTcp);
    AddVip("default", "other", "10.96.0.2", 5432, Protocol::kTcp);
    auto secure = AddExternal("default", "secure.example.com", {443});
    secure->ports[0].protocol = Protocol::kTls;
  }
  Listener Db(LabelMap labels = {}) {
    auto proxy = Client();
    proxy->metadata.labels = std::move(labels);
    return Generated(proxy).at("10.96.0.1_5432");
  }
};

constexpr char kOther[] = "outbound|5432||other.default.svc.cluster.local";
constexpr char kDb[] = "outbound|5432||db.default.svc.cluster.local";

TEST_F(OutboundRoutesTest, ARouteWithoutMatchTakesEverything) {
  PutVirtualService("default", "v", "hosts: 'db' tcp { route { destination { host: 'other' } } }");
  const Listener listener = Db();
  EXPECT_EQ(ClusterOf(listener), kOther);
  EXPECT_EQ(
      listener.filter_chains(0).metadata().filter_metadata().at("istio").fields().at("config").string_value(),
      "/apis/networking.istio.io/v1/namespaces/default/virtual-service/v");
}

TEST_F(OutboundRoutesTest, WeightsMakeWeightedClusters) {
  PutVirtualService("default", "v", R"(hosts: "db" tcp {
      route { destination { host: "db" } weight: 80 } route { destination { host: "other" } weight: 20 }
      route { destination { host: "db" subset: "v0" } } })");
  const TcpProxy proxy = Tcp(Db().filter_chains(0));
  EXPECT_EQ(proxy.stat_prefix(), "v.default");
  ASSERT_EQ(proxy.weighted_clusters().clusters_size(), 2) << "a destination without weight gets nothing";
  EXPECT_EQ(proxy.weighted_clusters().clusters(0).name(), kDb);
  EXPECT_EQ(proxy.weighted_clusters().clusters(1).weight(), 20u);
}

TEST_F(OutboundRoutesTest, MatchesThatAreNotForTheProxyAreLeftOut) {
  PutVirtualService("default", "v", R"(hosts: "db" tcp {
      match { source_labels { key: "app" value: "x" } } route { destination { host: "other" } } })");
  EXPECT_EQ(ClusterOf(Db({{"app", "x"}})), kOther);
  EXPECT_EQ(ClusterOf(Db({{"app", "y"}})), kDb);
  EXPECT_EQ(ClusterOf(Db({{"app", "x"}})), kOther) << "labels are part of what is remembered";
}

TEST_F(OutboundRoutesTest, MatchesOnPortNamespaceAndGateway) {
  for (const std::string match : {"port: 5433", "source_namespace: 'elsewhere'", "gateways: 'default/gw'"}) {
    PutVirtualService(
        "default", "v",
        StrCat("hosts: 'db' tcp { match { ", match, " } route { destination { host: 'other' } } }"));
    EXPECT_EQ(ClusterOf(Db()), kDb) << match;
  }
}

TEST_F(OutboundRoutesTest, SubnetsHaveChainsBesideTheServices) {
  PutVirtualService("default", "v", R"(hosts: "db" tcp {
      match { destination_subnets: "10.5.0.0/16" } route { destination { host: "other" } } })");
  const Listener listener = Db();
  ASSERT_EQ(listener.filter_chains_size(), 1);
  EXPECT_EQ(listener.filter_chains(0).filter_chain_match().prefix_ranges(0).address_prefix(), "10.5.0.0");
  EXPECT_EQ(Tcp(listener.filter_chains(0)).cluster(), kOther);
  EXPECT_EQ(Tcp(listener.default_filter_chain()).cluster(), kDb);
}

TEST_F(OutboundRoutesTest, TlsRoutesMatchSniAndReplaceTheServicesChain) {
  PutVirtualService("default", "v", R"(hosts: "secure.example.com" tls {
      match { sni_hosts: "a.example.com" sni_hosts: "secure.example.com" port: 443 }
      route { destination { host: "secure.example.com" } } })");
  const Listener listener = Generated(Client()).at("0.0.0.0_443");
  ASSERT_EQ(listener.filter_chains_size(), 1);
  EXPECT_THAT(listener.filter_chains(0).filter_chain_match().server_names(),
              ElementsAre("a.example.com", "secure.example.com"));
}

TEST_F(OutboundRoutesTest, DestinationRulesShapeConnections) {
  PutDestinationRule("default", "r", R"(host: "db.default.svc.cluster.local" traffic_policy {
      connection_pool { tcp { idle_timeout { seconds: 7 } max_connection_duration { seconds: 90 } } }
      load_balancer { consistent_hash { use_source_ip: true } }
      tunnel { protocol: "POST" target_host: "db.example.com" target_port: 99 } })");
  const TcpProxy proxy = Tcp(Db().filter_chains(0));
  EXPECT_EQ(proxy.idle_timeout().seconds(), 7);
  EXPECT_EQ(proxy.max_downstream_connection_duration().seconds(), 90);
  EXPECT_TRUE(proxy.hash_policy(0).has_source_ip());
  EXPECT_EQ(proxy.tunneling_config().hostname(), "db.example.com:99");
  EXPECT_TRUE(proxy.tunneling_config().use_post());
}

TEST_F(OutboundRoutesTest, ASubsetsLoadBalancerDecidesForItself) {
  PutDestinationRule("default", "r", R"(host: "db.default.svc.cluster.local"
      traffic_policy { load_balancer { consistent_hash { use_source_ip: true } } }
      subsets { name: "plain" traffic_policy { load_balancer { simple: RANDOM } } } subsets { name: "v1" })");
  for (const auto& [subset, hashes] : {std::pair("plain", 0), std::pair("v1", 1)}) {
    PutVirtualService("default", "v",
                      StrCat("hosts: 'db' tcp { route { destination { host: 'db' subset: '",
                             std::string_view(subset), "' } } }"));
    EXPECT_EQ(Tcp(Db().filter_chains(0)).hash_policy_size(), hashes) << subset;
  }
}

}  // namespace
}  // namespace fairlead::gen::listener
