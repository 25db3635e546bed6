#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>

#include <map>
#include <string>

#include "config/derived_object.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/generator.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen {
namespace {

using envoy::config::cluster::v3::Cluster;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

constexpr char kDns[] = "outbound_udp|53||dns.shop.svc.cluster.local";

// Two services with a port of UDP and one of TCP of one number, and a route for UDP to the first at a router.
class UdpClustersTest : public mesh::MeshFixture {
 protected:
  UdpClustersTest() {
    NewMeshConfig().mutable_enable_auto_mtls()->set_value(true);
    SetSettings();
    for (const char* name : {"dns", "other"}) {
      auto service = AddService("shop", name, {53, 53, 54});
      for (const size_t udp : {0, 2}) service->ports[udp].protocol = model::Protocol::kUdp;
      service->ports[0].name = "udp";
      service->ports[2].name = "udp-more";
    }
    router_->type = model::ProxyType::kRouter;
    router_->supports_ipv4 = true;
    Put(config::Kind::kGateway, "a", "gw",
        mesh::Parse<istio::networking::v1alpha3::Gateway>(
            R"(servers { port { number: 5353 protocol: "UDP" name: "default" } hosts: "*" })"),
        0, {{std::string(config::kGatewaySemanticsAnnotation), std::string(config::kGatewaySemantics)}});
    PutRoute("gateways: \"a/gw\"");
  }

  void PutRoute(const std::string& gateways) {
    PutVirtualService("a", "route", StrCat(R"(hosts: "*" )", gateways, R"(
      tcp { route { destination { host: "dns.shop.svc.cluster.local" port { number: 53 } } } })"),
                      0, {{std::string(config::kParentsAnnotation), "UDPRoute/r.a"}});
  }
  std::map<std::string, Cluster> Clusters() {
    auto proxy = std::make_shared<model::Proxy>(*router_);
    proxy->proxy_class = model::ClassOf(*proxy);
    const mesh::SnapshotPtr snapshot = Build();
    std::map<std::string, Cluster> clusters;
    const auto generator = NewClusterGenerator();
    for (const cache::ResourcePtr& resource :
         GenerateFor(*generator, *snapshot, *mesh::ComputeProxyScope(*snapshot, proxy), nullptr)) {
      google::protobuf::Any any;
      EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
      if (!resource->name.str().starts_with("outbound_udp|")) continue;
      EXPECT_TRUE(any.UnpackTo(&clusters[resource->name.str()]));
    }
    return clusters;
  }

  std::shared_ptr<model::Proxy> router_ =
      std::make_shared<model::Proxy>(*MakeProxy("istio-system", "gw", "10.0.0.1"));
};

TEST_F(UdpClustersTest, ARouterHasThoseThatItsRoutesNameAlone) {
  EXPECT_THAT(Clusters(), ElementsAre(Key(kDns)));
  PutRoute("gateways: \"a/another\"");
  EXPECT_THAT(Clusters(), IsEmpty());
}

TEST_F(UdpClustersTest, OtherProxiesHaveNone) {
  router_->type = model::ProxyType::kSidecar;
  EXPECT_THAT(Clusters(), IsEmpty());
}

TEST_F(UdpClustersTest, DatagramsAreNotEncrypted) {
  PutDestinationRule("shop", "dns", R"(host: "dns.shop.svc.cluster.local" subsets { name: "v1" }
    traffic_policy { tls { mode: SIMPLE } load_balancer { consistent_hash { use_source_ip: true } }
                     connection_pool { tcp { max_connections: 7 } } })");
  const auto clusters = Clusters();
  ASSERT_THAT(clusters, ElementsAre(Key(kDns))) << "no subsets";
  const Cluster& cluster = clusters.at(kDns);
  EXPECT_EQ(cluster.type(), Cluster::EDS);
  EXPECT_EQ(cluster.eds_cluster_config().service_name(), kDns);
  EXPECT_FALSE(cluster.has_transport_socket());
  EXPECT_THAT(cluster.transport_socket_matches(), IsEmpty());
  EXPECT_THAT(cluster.filters(), IsEmpty());
  EXPECT_THAT(cluster.typed_extension_protocol_options(), IsEmpty());
  EXPECT_EQ(cluster.lb_policy(), Cluster::RING_HASH);
  EXPECT_EQ(cluster.circuit_breakers().thresholds(0).max_connections().value(), 7u);
}

}  // namespace
}  // namespace fairlead::gen
