#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "base/strings.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "gen/endpoint/build.h"
#include "gen/endpoint/collect.h"
#include "gen/generator.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kHost[] = "web.shop.svc.cluster.local";
constexpr char kCluster[] = "outbound|80||web.shop.svc.cluster.local";

// A service "web" of port 80 whose endpoints the tests add, as one client is sent them.
class EndpointTest : public mesh::MeshFixture {
 protected:
  EndpointTest() { service_ = AddService("shop", "web", {80}); }

  model::Endpoint& Add(std::string_view ip, LabelMap labels = {}, std::string_view locality = "") {
    auto workload = std::make_shared<model::Workload>();
    workload->name = StrCat("w-", ip);
    workload->ns = "shop";
    workload->labels = std::move(labels);
    workload->SetLocality(locality);
    workload->cluster = "Kubernetes";
    workload->tls_mode = "istio";
    workloads_.push_back(workload);
    model::Endpoint& endpoint = endpoints_.emplace_back();
    endpoint.addresses = {Interned(ip)};
    endpoint.port_name = "http-80";
    endpoint.port = 8080;
    endpoint.workload = workload;
    return endpoint;
  }
  model::Workload& LastWorkload() { return *workloads_.back(); }

  EndpointInputs Collect(std::string_view cluster_name = kCluster) {
    auto all = std::make_shared<model::ServiceEndpoints>();
    all->shards.push_back({.cluster = "Kubernetes", .registry = 0, .endpoints = endpoints_});
    registry_.endpoints[{Interned(kHost), Interned("shop")}] = all;
    registry_.changes.endpoints.push_back({Interned(kHost), Interned("shop")});
    snapshot_ = Build();
    return CollectNow(cluster_name);
  }
  // For the client as it now is, in the same snapshot.
  EndpointInputs CollectNow(std::string_view cluster_name = kCluster) {
    client_->proxy_class = model::ClassOf(*client_);
    scope_ = mesh::ComputeProxyScope(*snapshot_, client_);
    mesh::View view({*snapshot_, scope_.get()});
    return CollectEndpoints(view, cluster_name);
  }
  envoy::config::endpoint::v3::ClusterLoadAssignment Send(std::string_view cluster_name = kCluster) {
    return BuildLoadAssignment(Collect(cluster_name));
  }
  static std::vector<std::string> Addresses(const envoy::config::endpoint::v3::ClusterLoadAssignment& sent) {
    std::vector<std::string> out;
    for (const auto& group : sent.endpoints()) {
      for (const auto& e : group.lb_endpoints()) {
        const auto& address = e.endpoint().address();
        out.push_back(address.has_pipe() ? address.pipe().path() : address.socket_address().address());
      }
    }
    return out;
  }

  std::shared_ptr<model::Service> service_;
  std::vector<model::Endpoint> endpoints_;
  std::vector<std::shared_ptr<model::Workload>> workloads_;
  std::shared_ptr<model::Proxy> client_ =
      std::const_pointer_cast<model::Proxy>(MakeProxy("shop", "client-1", "10.9.9.9"));
  mesh::SnapshotPtr snapshot_;
  mesh::ProxyScopePtr scope_;
};

TEST_F(EndpointTest, LocalitiesAreSortedAndWeighed) {
  Add("10.0.0.1", {}, "r2/z1");
  Add("10.0.0.2", {}, "r1/z1").weight = 5;
  Add("10.0.0.3", {}, "r1/z1");
  const auto sent = Send();
  EXPECT_THAT(Addresses(sent), ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
  EXPECT_EQ(sent.endpoints(0).locality().region(), "r1");
  EXPECT_EQ(sent.endpoints(0).load_balancing_weight().value(), 6u);
  EXPECT_EQ(sent.endpoints(0).lb_endpoints(1).load_balancing_weight().value(), 1u);
}

TEST_F(EndpointTest, GroupsAreOfLocalitiesAsTheyAreWritten) {
  Add("10.0.0.1", {}, "r/z/");
  Add("10.0.0.2", {}, "r/z");
  Add("10.0.0.3", {}, "r/z/s");
  Add("10.0.0.4", {}, "r/z/s");
  const auto sent = Send();
  EXPECT_THAT(Addresses(sent), ElementsAre("10.0.0.2", "10.0.0.1", "10.0.0.3", "10.0.0.4"));
  ASSERT_EQ(sent.endpoints_size(), 3) << "r/z is not r/z/";
  EXPECT_EQ(sent.endpoints(2).lb_endpoints_size(), 2);
}

TEST_F(EndpointTest, UnknownNamesGetAnEmptyAssignment) {
  Add("10.0.0.1");
  EXPECT_THAT(Addresses(Send("outbound|81||web.shop.svc.cluster.local")), IsEmpty());
  const auto sent = Send("outbound|80||nobody.shop.svc.cluster.local");
  EXPECT_EQ(sent.cluster_name(), "outbound|80||nobody.shop.svc.cluster.local");
  EXPECT_THAT(Addresses(sent), IsEmpty());
}

TEST_F(EndpointTest, DatagramsGoToThePortOfUdpAsTheyAre) {
  service_->ports.push_back(service_->ports[0]);
  service_->ports[1].protocol = model::Protocol::kUdp;
  service_->ports[1].name = "udp-80";
  constexpr char kUdpCluster[] = "outbound_udp|80||web.shop.svc.cluster.local";
  Add("10.0.0.1").port_name = "udp-80";
  Add("10.0.0.2");
  Add("10.0.0.3", {{"networking.istio.io/tunnel", "http"}}).port_name = "udp-80";
  LastWorkload().tls_mode = "disabled";
  EXPECT_THAT(Addresses(Send()), ElementsAre("10.0.0.2"));
  const auto sent = Send(kUdpCluster);
  EXPECT_THAT(Addresses(sent), ElementsAre("10.0.0.1", "10.0.0.3")) << "not through a tunnel";
  for (const auto& endpoint : sent.endpoints(0).lb_endpoints())
    EXPECT_FALSE(endpoint.metadata().filter_metadata().contains("envoy.transport_socket_match"));
}

TEST_F(EndpointTest, DatagramsStayInTheNetwork) {
  service_->ports[0].protocol = model::Protocol::kUdp;
  client_->metadata.network = "n1";
  registry_.network_gateways.push_back({.network = "n2", .cluster = "", .address = "172.0.0.1"});
  registry_.changes.network_gateways = true;
  Add("10.0.0.1");
  LastWorkload().network = "n1";
  Add("10.0.0.2");
  LastWorkload().network = "n2";
  EXPECT_THAT(Addresses(Send("outbound_udp|80||web.shop.svc.cluster.local")), ElementsAre("10.0.0.1"));
}

TEST_F(EndpointTest, SubsetsSelectByLabels) {
  PutDestinationRule("shop", "web",
                     R"(host: "web" subsets { name: "v1" labels { key: "version" value: "v1" } })");
  Add("10.0.0.1", {{"version", "v1"}});
  Add("10.0.0.2", {{"version", "v2"}});
  EXPECT_THAT(Addresses(Send("outbound|80|v1|web.shop.svc.cluster.local")), ElementsAre("10.0.0.1"));
}

TEST_F(EndpointTest, MetadataSaysWorkloadAndMutualTls) {
  Add("10.0.0.1", {{"app", "web"}, {"version", "v1"}});
  Add("10.0.0.2", {{"service.istio.io/canonical-revision", "latest"}});
  LastWorkload().tls_mode = "disabled";
  const auto sent = Send();
  const auto& first = sent.endpoints(0).lb_endpoints(0);
  EXPECT_TRUE(SpeaksMutualTls(first));
  EXPECT_EQ(first.metadata().filter_metadata().at("istio").fields().at("workload").string_value(),
            "w-10.0.0.1;shop;web;v1;Kubernetes");
  const auto& second = sent.endpoints(0).lb_endpoints(1);
  EXPECT_FALSE(SpeaksMutualTls(second));
  EXPECT_EQ(second.metadata().filter_metadata().at("istio").fields().at("workload").string_value(),
            "w-10.0.0.2;shop;w-10.0.0.2;;Kubernetes");
}

// Who asks for mutual TLS in a DestinationRule gets it from all; the label's word goes along as it is.
TEST_F(EndpointTest, AnotherTlsModeIsPassedOnWhereTheRuleAsksForMutualTls) {
  const auto mode_of = [](const auto& endpoint) {
    const auto& metadata = endpoint.metadata().filter_metadata();
    const auto match = metadata.find("envoy.transport_socket_match");
    return match == metadata.end() ? "none" : match->second.fields().at("tlsMode").string_value();
  };
  Add("10.0.0.1");
  LastWorkload().tls_mode = "other";
  Add("10.0.0.2");
  LastWorkload().tls_mode = "disabled";
  EXPECT_EQ(mode_of(Send().endpoints(0).lb_endpoints(0)), "none");
  PutDestinationRule("shop", "web", R"(host: "web" traffic_policy { tls { mode: ISTIO_MUTUAL } })");
  const auto sent = Send();
  EXPECT_EQ(mode_of(sent.endpoints(0).lb_endpoints(0)), "other");
  EXPECT_EQ(mode_of(sent.endpoints(0).lb_endpoints(1)), "none");
}

TEST_F(EndpointTest, PeerAuthenticationForbidsMutualTlsByPort) {
  PutPeerAuthentication("shop", "p", R"(mtls { mode: DISABLE })");
  Add("10.0.0.1");
  EXPECT_FALSE(SpeaksMutualTls(Send().endpoints(0).lb_endpoints(0)));
}

TEST_F(EndpointTest, PoliciesOfOtherNamespacesAreNoInputs) {
  PutPeerAuthentication("shop", "p", R"(mtls { mode: DISABLE })");
  Add("10.0.0.1");
  Add("10.0.0.2");
  LastWorkload().ns = "partner";
  EndpointInputs before = Collect();
  const auto is_as_before = [&] {
    EndpointInputs now = Collect();
    now.endpoints = before.endpoints;  // made anew each time
    return now == before;
  };
  PutPeerAuthentication("elsewhere", "p", R"(mtls { mode: STRICT })");
  EXPECT_TRUE(is_as_before());
  PutPeerAuthentication("partner", "p", R"(mtls { mode: DISABLE })");
  EXPECT_FALSE(is_as_before());
  before = Collect();
  PutPeerAuthentication("istio-system", "p", R"(mtls { mode: STRICT })");
  EXPECT_FALSE(is_as_before());
}

TEST_F(EndpointTest, PoliciesAreNoInputsWhereNoEndpointDependsOnThem) {
  Add("10.0.0.1");
  PutPeerAuthentication("shop", "p", R"(mtls { mode: DISABLE })");
  EXPECT_NE(Collect().peer_policies, PeerPolicies());
  PutDestinationRule("shop", "web", R"(host: "web" traffic_policy { tls { mode: ISTIO_MUTUAL } })");
  EXPECT_EQ(Collect().peer_policies, PeerPolicies());
  Remove(config::Kind::kDestinationRule, "shop", "web");
  LastWorkload().tls_mode = "disabled";
  EXPECT_EQ(Collect().peer_policies, PeerPolicies());
}

TEST_F(EndpointTest, ARulesTlsModeDecidesForAllEndpoints) {
  PutPeerAuthentication("shop", "p", R"(mtls { mode: DISABLE })");
  PutDestinationRule("shop", "web", R"(host: "web" traffic_policy { tls { mode: ISTIO_MUTUAL }
    port_level_settings { port { number: 80 } load_balancer { simple: RANDOM } } })");
  Add("10.0.0.1");
  EXPECT_TRUE(SpeaksMutualTls(Send().endpoints(0).lb_endpoints(0)));
}

TEST_F(EndpointTest, UnhealthyEndpointsAreSentUnlessAPanicThresholdWouldUseThem) {
  Add("10.0.0.1").health = model::Health::kUnhealthy;
  Add("10.0.0.2").health = model::Health::kTerminating;
  Add("10.0.0.3").health = model::Health::kUnknown;
  const auto sent = Send();
  EXPECT_THAT(Addresses(sent), ElementsAre("10.0.0.1", "10.0.0.3"));
  EXPECT_EQ(sent.endpoints(0).lb_endpoints(0).health_status(), envoy::config::core::v3::UNHEALTHY);
  EXPECT_EQ(sent.endpoints(0).lb_endpoints(1).health_status(), envoy::config::core::v3::UNKNOWN);
  PutDestinationRule("shop", "web",
                     R"(host: "web" traffic_policy { outlier_detection { min_health_percent: 30 } })");
  EXPECT_THAT(Addresses(Send()), ElementsAre("10.0.0.3"));
}

TEST_F(EndpointTest, DrainingEndpointsAreForStickySessions) {
  Add("10.0.0.1", {{"istio.io/draining", "true"}});
  EXPECT_THAT(Addresses(Send()), IsEmpty());
  service_->labels["istio.io/persistent-session"] = "cookie";
  const auto sent = Send();
  ASSERT_THAT(Addresses(sent), ElementsAre("10.0.0.1"));
  EXPECT_EQ(sent.endpoints(0).lb_endpoints(0).health_status(), envoy::config::core::v3::DRAINING);
}

TEST_F(EndpointTest, HostNamesAreForDnsClustersAndSocketsForAll) {
  Add("db.example.com");
  Add("unix:///run/db.sock").port = 0;
  EXPECT_THAT(Addresses(Send()), ElementsAre("/run/db.sock"));
}

TEST_F(EndpointTest, NodeLocalServicesStayOnTheNode) {
  service_->node_local = true;
  Add("10.0.0.1");
  LastWorkload().node_name = "node-a";
  Add("10.0.0.2");
  LastWorkload().node_name = "node-b";
  client_->metadata.node_name = "node-b";
  EXPECT_THAT(Addresses(Send()), ElementsAre("10.0.0.2"));
}

TEST_F(EndpointTest, NetworkViewsHideOtherNetworks) {
  Add("10.0.0.1");
  LastWorkload().network = "n1";
  Add("10.0.0.2");
  LastWorkload().network = "n2";
  Add("10.0.0.3");
  client_->metadata.requested_network_view = {"n2"};
  EXPECT_THAT(Addresses(Send()), ElementsAre("10.0.0.2", "10.0.0.3"));
}

TEST_F(EndpointTest, GatewaysShareTheWeightOfTheirNetwork) {
  client_->supports_ipv4 = true;
  client_->metadata.network = "n1";
  for (const char* gateway : {"192.0.2.2", "192.0.2.1", "gw.example.com"}) {
    registry_.network_gateways.push_back({.network = "n2", .cluster = "", .address = gateway});
  }
  registry_.changes.network_gateways = true;
  Add("10.0.0.1");
  LastWorkload().network = "n1";
  Add("10.0.0.2");
  LastWorkload().network = "n2";
  Add("10.0.0.3");
  LastWorkload().network = "n2";
  LastWorkload().tls_mode = "disabled";  // no mutual TLS, no way through a gateway
  const auto sent = Send();
  EXPECT_THAT(Addresses(sent), ElementsAre("10.0.0.1", "192.0.2.1", "192.0.2.2"));
  const auto& group = sent.endpoints(0);
  EXPECT_EQ(group.lb_endpoints(0).load_balancing_weight().value(), 2u);  // scaled by two gateways
  EXPECT_EQ(group.lb_endpoints(1).load_balancing_weight().value(), 1u);
  EXPECT_EQ(group.lb_endpoints(1).endpoint().address().socket_address().port_value(), 15443u);
  EXPECT_EQ(group.load_balancing_weight().value(), 4u);
}

TEST_F(EndpointTest, PassingGatewaysOfferMutualTlsOnly) {
  Add("10.0.0.1");
  Add("10.0.0.2");
  LastWorkload().tls_mode = "disabled";
  EXPECT_THAT(Addresses(Send("outbound_.80_._.web.shop.svc.cluster.local")), ElementsAre("10.0.0.1"));
}

TEST_F(EndpointTest, ClientsThatGetTheSameShareInputs) {
  Add("10.0.0.1", {}, "r1/z1");
  const EndpointInputs here = Collect();
  client_ = std::const_pointer_cast<model::Proxy>(MakeProxy("shop", "client-2", "10.9.9.8"));
  client_->metadata.cluster_id = "other";
  client_->node_locality = model::Locality::Parse("r2/z2");
  const EndpointInputs there = CollectNow();
  EXPECT_TRUE(here == there);
  EXPECT_EQ(absl::HashOf(here), absl::HashOf(there));
}

// One generator serves clients of one class in different places, and then another snapshot.
TEST_F(EndpointTest, TheGeneratorTellsClientsApartWhereTheyDiffer) {
  PutDestinationRule("shop", "web", R"(host: "web" traffic_policy { outlier_detection {}
    load_balancer { locality_lb_setting {} } })");
  Add("10.0.0.1", {}, "r1");
  Add("10.0.0.2", {}, "r2");
  const auto generator = NewEndpointGenerator();
  const std::vector<std::string> names = {kCluster, "local_cluster"};
  const auto first_region = [&](std::string_view region) {
    client_ = std::const_pointer_cast<model::Proxy>(MakeProxy("shop", StrCat("client-", region), "10.9.9.8"));
    client_->node_locality = model::Locality::Parse(region);
    Collect();
    google::protobuf::Any any;
    any.ParseFromString(GenerateFor(*generator, *snapshot_, *scope_, &names).at(0)->any.Unpacked());
    envoy::config::endpoint::v3::ClusterLoadAssignment sent;
    EXPECT_TRUE(any.UnpackTo(&sent));
    for (const auto& group : sent.endpoints()) {
      if (group.priority() == 0) return group.locality().region();
    }
    return std::string();
  };
  EXPECT_EQ(first_region("r1"), "r1");
  EXPECT_EQ(first_region("r2"), "r2");
  generator->Sweep(Clock::now());
  Add("10.0.0.3", {}, "r2");
  EXPECT_EQ(first_region("r2"), "r2");
}

TEST_F(EndpointTest, EndpointsThatAreNotExportedAreForTheirClusterAlone) {
  settings_.features.mcs_discovery = true;
  SetSettings();
  Add("10.0.0.1").own_cluster_only = true;
  Add("10.0.0.2");
  Add("10.1.0.1").own_cluster_only = true;
  LastWorkload().cluster = "east";
  Add("10.1.0.2");
  LastWorkload().cluster = "east";
  EXPECT_THAT(Addresses(BuildLoadAssignment(Collect())), ElementsAre("10.0.0.1", "10.0.0.2", "10.1.0.2"));
  client_->metadata.cluster_id = "east";
  EXPECT_THAT(Addresses(BuildLoadAssignment(CollectNow())), ElementsAre("10.0.0.2", "10.1.0.1", "10.1.0.2"));
}

TEST(IsClusterLocal, SettingsOverrideTheDefaults) {
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  mesh->mutable_default_config()->set_discovery_address("istiod.istio-system.svc:15012");
  model::Settings settings;
  settings.mesh = mesh;
  EXPECT_TRUE(IsClusterLocal(settings, "dns.kube-system.svc.cluster.local"));
  EXPECT_TRUE(IsClusterLocal(settings, "kubernetes.default.svc.cluster.local"));
  EXPECT_TRUE(IsClusterLocal(settings, "istiod.istio-system.svc.cluster.local"));
  EXPECT_FALSE(IsClusterLocal(settings, kHost));
  auto* mine = mesh->add_service_settings();
  mine->mutable_settings()->set_cluster_local(true);
  mine->add_hosts("*.shop.svc.cluster.local");
  auto* shared = mesh->add_service_settings();
  shared->add_hosts("*.kube-system.svc.cluster.local");
  shared->add_hosts("web.shop.svc.cluster.local");
  EXPECT_FALSE(IsClusterLocal(settings, "dns.kube-system.svc.cluster.local"));
  EXPECT_TRUE(IsClusterLocal(settings, "cart.shop.svc.cluster.local"));
  EXPECT_FALSE(IsClusterLocal(settings, kHost));
}

}  // namespace
}  // namespace fairlead::gen
