#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"
#include "gen/generator.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen {
namespace {

using envoy::config::cluster::v3::Cluster;
using testing::ElementsAre;
using testing::IsEmpty;

// A workload behind the services that the tests add.
class InboundTest : public mesh::MeshFixture {
 protected:
  InboundTest() {
    proxy_->supports_ipv4 = true;
    AddPod("shop", "web-1", "10.0.0.1", {{"app", "web"}}, {{"http", 8080}});
  }
  std::vector<Cluster> Inbound() {
    snapshot_ = Build();
    proxy_->proxy_class = model::ClassOf(*proxy_);
    scope_ = mesh::ComputeProxyScope(*snapshot_, proxy_);
    std::vector<Cluster> all;
    mesh::View view({*snapshot_, scope_.get()});
    for (const auto& in : CollectInbound(view, CollectTraits(view))) {
      all.push_back(BuildInbound(in));
    }
    return all;
  }
  static std::vector<std::string> Hosts(const Cluster& cluster) {
    std::vector<std::string> hosts;
    const auto& istio = cluster.metadata().filter_metadata().at("istio").fields();
    for (const auto& value : istio.at("services").list_value().values()) {
      hosts.push_back(value.struct_value().fields().at("host").string_value());
    }
    return hosts;
  }

  std::shared_ptr<model::Proxy> proxy_ =
      std::const_pointer_cast<model::Proxy>(MakeProxy("shop", "web-1", "10.0.0.1"));
  mesh::SnapshotPtr snapshot_;
  mesh::ProxyScopePtr scope_;
};

TEST_F(InboundTest, OneClusterAPortNamesAllItsServices) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  AddService("shop", "b", {8080}, {{"app", "web"}});
  const auto clusters = Inbound();
  ASSERT_EQ(clusters.size(), 1u);
  const Cluster& cluster = clusters[0];
  EXPECT_EQ(cluster.name(), "inbound|8080||");
  EXPECT_EQ(cluster.type(), Cluster::ORIGINAL_DST);
  EXPECT_EQ(cluster.cleanup_interval().seconds(), 9223372035);
  EXPECT_EQ(cluster.upstream_bind_config().source_address().address(), "127.0.0.6");
  EXPECT_THAT(Hosts(cluster), ElementsAre("a.shop.svc.cluster.local", "b.shop.svc.cluster.local"));
}

TEST_F(InboundTest, LocalhostModeListsTheLoopback) {
  NewMeshConfig().mutable_inbound_traffic_policy()->set_mode(
      istio::mesh::v1alpha1::MeshConfig::InboundTrafficPolicy::LOCALHOST);
  SetSettings();
  AddService("shop", "a", {8080}, {{"app", "web"}});
  const Cluster cluster = Inbound().at(0);
  EXPECT_EQ(cluster.type(), Cluster::STATIC);
  const auto& address = cluster.load_assignment().endpoints(0).lb_endpoints(0).endpoint().address();
  EXPECT_EQ(address.socket_address().address(), "127.0.0.1");
  EXPECT_FALSE(cluster.has_upstream_bind_config());
}

TEST_F(InboundTest, WithoutInterceptionThereIsNothingToServe) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  proxy_->metadata.interception_mode = model::InterceptionMode::kNone;
  EXPECT_THAT(Inbound(), IsEmpty());
}

TEST_F(InboundTest, TheServersSideHasTheClientsCapacity) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  PutDestinationRule("shop", "a", R"(host: "a" traffic_policy {
    connection_pool { tcp { max_connections: 3 } } tls { mode: SIMPLE } outlier_detection {} })");
  const Cluster cluster = Inbound().at(0);
  EXPECT_EQ(cluster.circuit_breakers().thresholds(0).max_connections().value(), 3u);
  EXPECT_FALSE(cluster.has_outlier_detection());
  EXPECT_FALSE(cluster.has_transport_socket());
}

TEST_F(InboundTest, ASidecarsPoolGoesBeforeTheRules) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  PutDestinationRule("shop", "a",
                     R"(host: "a" traffic_policy { connection_pool { tcp { max_connections: 3 } } })");
  PutSidecar("shop", "default", "inbound_connection_pool { tcp { max_connections: 4 } }");
  EXPECT_EQ(Inbound().at(0).circuit_breakers().thresholds(0).max_connections().value(), 4u);
}

TEST_F(InboundTest, IngressListenersReplacePorts) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  PutSidecar("shop", "default", R"(
    ingress { port { number: 8080 protocol: "HTTP" name: "http" } default_endpoint: "127.0.0.1:9090" }
    ingress { port { number: 7000 protocol: "TCP" name: "tcp" } default_endpoint: "unix:///run/app.sock" }
    ingress { port { number: 7001 protocol: "TCP" name: "ip" } default_endpoint: "0.0.0.0:7002" }
    ingress { port { number: 7003 protocol: "TCP" name: "bad" } default_endpoint: "nonsense" })");
  const auto clusters = Inbound();
  ASSERT_EQ(clusters.size(), 3u);
  const auto address = [&](int i) {
    return clusters[i].load_assignment().endpoints(0).lb_endpoints(0).endpoint().address();
  };
  EXPECT_EQ(address(0).socket_address().port_value(), 9090u);
  EXPECT_THAT(Hosts(clusters[0]), ElementsAre("a.shop.svc.cluster.local"));
  EXPECT_EQ(address(1).pipe().path(), "/run/app.sock");
  EXPECT_FALSE(clusters[1].has_metadata());  // no service of that port
  EXPECT_EQ(address(2).socket_address().address(), "10.0.0.1");
}

TEST_F(InboundTest, AListenersStatNameIsTheSidecarsInTheNamespaceWhereItTakesEffect) {
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>(*settings_.mesh);
  mesh->set_inbound_cluster_stat_name("in_%SERVICE%_%SERVICE_PORT%");
  settings_.mesh = mesh;
  SetSettings();
  PutSidecar("istio-system", "default", R"(
    ingress { port { number: 8080 protocol: "HTTP" name: "http" } default_endpoint: "127.0.0.1:9090" })");
  EXPECT_EQ(Inbound().at(0).alt_stat_name(), "in_default.shop_8080;");
}

TEST_F(InboundTest, EverySidecarHasItsFixedClusters) {
  Inbound();
  const auto names = [&] {
    std::vector<std::string> out;
    mesh::View view({*snapshot_, scope_.get()});
    for (const auto& in : CollectFixed(view, CollectTraits(view))) {
      out.push_back(BuildFixed(in).name());
    }
    return out;
  };
  EXPECT_THAT(names(), ElementsAre("BlackHoleCluster", "PassthroughCluster", "InboundPassthroughCluster"));
  proxy_->type = model::ProxyType::kRouter;
  proxy_->proxy_class = model::ClassOf(*proxy_);
  scope_ = mesh::ComputeProxyScope(*snapshot_, proxy_);
  EXPECT_THAT(names(), ElementsAre("BlackHoleCluster"));
}

TEST_F(InboundTest, TheGeneratorSendsEachNameOnceAndPicks) {
  AddService("shop", "a", {8080}, {{"app", "web"}});
  Inbound();
  const auto generator = NewClusterGenerator();
  std::vector<std::string> names;
  for (const auto& resource : GenerateFor(*generator, *snapshot_, *scope_, nullptr))
    names.push_back(resource->name.str());
  EXPECT_THAT(names, testing::UnorderedElementsAre("outbound|8080||a.shop.svc.cluster.local",
                                                   "BlackHoleCluster", "PassthroughCluster",
                                                   "InboundPassthroughCluster", "inbound|8080||"));
  const std::vector<std::string> wanted = {"inbound|8080||", "nothing"};
  EXPECT_EQ(GenerateFor(*generator, *snapshot_, *scope_, &wanted).size(), 1u);
}

}  // namespace
}  // namespace fairlead::gen
