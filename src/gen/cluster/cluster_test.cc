#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "envoy/extensions/upstreams/http/v3/http_protocol_options.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"
#include "gen/generator.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::extensions::transport_sockets::tls::v3::UpstreamTlsContext;
using HttpOptions = envoy::extensions::upstreams::http::v3::HttpProtocolOptions;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// A service "web" of port 80 and a client; what the client's clusters are.
class ClusterTest : public mesh::MeshFixture {
 protected:
  ClusterTest() {
    auto& mesh = NewMeshConfig();
    mesh.mutable_connect_timeout()->set_seconds(10);
    mesh.mutable_enable_auto_mtls()->set_value(true);
    SetSettings();
    web_ = AddService("shop", "web", {80});
    client_->supports_ipv4 = true;
  }

  void Look() {
    snapshot_ = Build();
    client_->proxy_class = model::ClassOf(*client_);
    scope_ = mesh::ComputeProxyScope(*snapshot_, client_);
  }
  std::vector<OutboundClusterInputs> Collect(bool dns_srv = false) {
    mesh::View view({*snapshot_, scope_.get()});
    std::vector<OutboundClusterInputs> all;
    for (const model::ServicePtr& service : view.imports().services) {
      for (OutboundClusterInputs& inputs : CollectOutbound(view, service, CollectTraits(view), dns_srv))
        all.push_back(std::move(inputs));
    }
    return all;
  }
  bool PassesThrough() {
    mesh::View view({*snapshot_, scope_.get()});
    return view.gateway_passthrough_hosts() != nullptr;
  }
  // All clusters for services, by name.
  std::vector<Cluster> Outbound(bool dns_srv = false) {
    Look();
    std::vector<Cluster> all;
    for (const auto& in : Collect(dns_srv)) {
      if (auto cluster = BuildOutbound(in)) all.push_back(*std::move(cluster));
    }
    return all;
  }
  Cluster Find(std::string_view name) {
    for (Cluster& cluster : Outbound()) {
      if (cluster.name() == name) return std::move(cluster);
    }
    ADD_FAILURE() << name << " is not sent";
    return {};
  }
  Cluster Web(std::string_view subset = "") {
    return Find(StrCat("outbound|80|", subset, "|web.shop.svc.cluster.local"));
  }
  void Rule(const std::string& text) { PutDestinationRule("shop", "web", StrCat("host: \"web\" ", text)); }

  void AddEndpoint(std::string_view host, std::string_view ns, std::string_view address,
                   std::string_view tls_mode) {
    auto workload = std::make_shared<model::Workload>();
    workload->ns = ns;
    workload->tls_mode = tls_mode;
    model::Endpoint endpoint;
    endpoint.addresses = {Interned(address)};
    endpoint.port_name = "http-80";
    endpoint.port = 8080;
    endpoint.workload = workload;
    auto& slot = registry_.endpoints[{Interned(host), Interned(ns)}];
    auto all =
        slot ? std::make_shared<model::ServiceEndpoints>(*slot) : std::make_shared<model::ServiceEndpoints>();
    if (all->shards.empty()) all->shards.emplace_back();
    all->shards[0].endpoints.push_back(std::move(endpoint));
    all->service_accounts = {"spiffe://cluster.local/ns/shop/sa/web"};
    slot = all;
    registry_.changes.endpoints.push_back({Interned(host), Interned(ns)});
  }

  static UpstreamTlsContext Tls(const envoy::config::core::v3::TransportSocket& socket) {
    UpstreamTlsContext context;
    EXPECT_TRUE(socket.typed_config().UnpackTo(&context)) << socket.DebugString();
    return context;
  }
  static HttpOptions Http(const Cluster& cluster) {
    HttpOptions options;
    for (const auto& [key, any] : cluster.typed_extension_protocol_options()) any.UnpackTo(&options);
    return options;
  }
  static const google::protobuf::Struct& Istio(const Cluster& cluster) {
    return cluster.metadata().filter_metadata().at("istio");
  }

  std::shared_ptr<model::Service> web_;
  std::shared_ptr<model::Proxy> client_ =
      std::const_pointer_cast<model::Proxy>(MakeProxy("shop", "client-1", "10.9.9.9"));
  mesh::SnapshotPtr snapshot_;
  mesh::ProxyScopePtr scope_;
};

TEST_F(ClusterTest, APlainServiceHasEdsAndAssumedMutualTls) {
  AddEndpoint("web.shop.svc.cluster.local", "shop", "10.0.0.1", "istio");
  const Cluster cluster = Web();
  EXPECT_EQ(cluster.type(), Cluster::EDS);
  EXPECT_EQ(cluster.alt_stat_name(), "outbound|80||web.shop.svc.cluster.local;");
  EXPECT_EQ(cluster.eds_cluster_config().service_name(), cluster.name());
  EXPECT_EQ(cluster.lb_policy(), Cluster::LEAST_REQUEST);
  EXPECT_EQ(cluster.connect_timeout().seconds(), 10);
  ASSERT_EQ(cluster.transport_socket_matches_size(), 2);
  const UpstreamTlsContext tls = Tls(cluster.transport_socket_matches(0).transport_socket());
  EXPECT_EQ(tls.sni(), "outbound_.80_._.web.shop.svc.cluster.local");
  EXPECT_THAT(tls.common_tls_context().alpn_protocols(), ElementsAre("istio-peer-exchange", "istio"));
  const auto& names = tls.common_tls_context().combined_validation_context().default_validation_context();
  EXPECT_NE(names.DebugString().find("spiffe://cluster.local/ns/shop/sa/web"), std::string::npos);
  EXPECT_EQ(cluster.transport_socket_matches(1).name(), "tlsMode-disabled");
}

TEST_F(ClusterTest, MutualTlsIsNotAssumedWhereItMayNotBe) {
  PutPeerAuthentication("shop", "off", "mtls { mode: DISABLE }");
  EXPECT_EQ(Web().transport_socket_matches_size(), 0);
  Remove(config::Kind::kPeerAuthentication, "shop", "off");
  EXPECT_EQ(Web().transport_socket_matches_size(), 2);
  NewMeshConfig().mutable_enable_auto_mtls()->set_value(false);
  SetSettings();
  EXPECT_EQ(Web().transport_socket_matches_size(), 0);
}

TEST_F(ClusterTest, HeadlessServicesNeedASidecarEverywhere) {
  web_->resolution = model::Resolution::kPassthrough;
  AddEndpoint("web.shop.svc.cluster.local", "shop", "10.0.0.1", "istio");
  Cluster cluster = Web();
  EXPECT_EQ(cluster.type(), Cluster::ORIGINAL_DST);
  EXPECT_EQ(cluster.lb_policy(), Cluster::CLUSTER_PROVIDED);
  EXPECT_TRUE(cluster.has_transport_socket());
  AddEndpoint("web.shop.svc.cluster.local", "shop", "10.0.0.2", "disabled");
  EXPECT_FALSE(Web().has_transport_socket());
  client_->type = model::ProxyType::kRouter;
  EXPECT_EQ(Web().type(), Cluster::EDS);
}

TEST_F(ClusterTest, ProtocolsDecideHttpOptions) {
  EXPECT_THAT(Web().typed_extension_protocol_options(), IsEmpty());
  web_->ports[0].protocol = model::Protocol::kGrpc;
  EXPECT_TRUE(Http(Web()).explicit_http_config().has_http2_protocol_options());
  EXPECT_THAT(Tls(Web().transport_socket_matches(0).transport_socket()).common_tls_context().alpn_protocols(),
              Contains("h2"));
  web_->ports[0].protocol = model::Protocol::kUnsupported;
  EXPECT_TRUE(Http(Web()).has_use_downstream_protocol_config());
  client_->type = model::ProxyType::kRouter;
  EXPECT_FALSE(Http(Web()).has_use_downstream_protocol_config());
}

TEST_F(ClusterTest, UpgradesNeedAnHttpPortUnlessTheRuleAsks) {
  NewMeshConfig().set_h2_upgrade_policy(istio::mesh::v1alpha1::MeshConfig::UPGRADE);
  SetSettings();
  EXPECT_TRUE(Http(Web()).explicit_http_config().has_http2_protocol_options());
  web_->ports[0].protocol = model::Protocol::kTcp;
  EXPECT_THAT(Web().typed_extension_protocol_options(), IsEmpty());
  Rule(
      "traffic_policy { connection_pool { http { h2_upgrade_policy: UPGRADE max_concurrent_streams: 7 } } }");
  EXPECT_EQ(Http(Web()).explicit_http_config().http2_protocol_options().max_concurrent_streams().value(), 7u);
}

TEST_F(ClusterTest, ConnectionPoolsLimit) {
  Rule(R"(traffic_policy { connection_pool {
    tcp { max_connections: 3 connect_timeout { seconds: 1 } idle_timeout { seconds: 9 } tcp_keepalive { probes: 4 } }
    http { http2_max_requests: 5 max_retries: 6 } } retry_budget { } })");
  const Cluster cluster = Web();
  const auto& limits = cluster.circuit_breakers().thresholds(0);
  EXPECT_EQ(limits.max_connections().value(), 3u);
  EXPECT_EQ(limits.max_requests().value(), 5u);
  EXPECT_EQ(limits.max_retries().value(), 6u);
  EXPECT_EQ(limits.max_pending_requests().value(), 0xffffffffu);
  EXPECT_EQ(limits.retry_budget().min_retry_concurrency().value(), 3u);
  EXPECT_EQ(cluster.connect_timeout().seconds(), 1);
  EXPECT_EQ(cluster.upstream_connection_options().tcp_keepalive().keepalive_probes().value(), 4u);
  EXPECT_EQ(Http(cluster).common_http_protocol_options().idle_timeout().seconds(), 9);
}

TEST_F(ClusterTest, OutlierDetectionTurnsPanicOff) {
  Rule(R"(traffic_policy { outlier_detection { consecutive_5xx_errors { value: 0 } min_health_percent: 20
    outlier_detection_http_error_codes: 503 outlier_detection_http_error_codes: 504 } })");
  const Cluster cluster = Web();
  EXPECT_EQ(cluster.outlier_detection().enforcing_consecutive_5xx().value(), 0u);
  EXPECT_TRUE(cluster.outlier_detection().has_enforcing_consecutive_5xx());
  EXPECT_EQ(cluster.common_lb_config().healthy_panic_threshold().value(), 20);
  EXPECT_EQ(Http(cluster).outlier_detection().error_matcher().or_match().rules_size(), 2);
}

TEST_F(ClusterTest, LoadBalancersBecomePolicies) {
  const std::vector<std::pair<std::string, Cluster::LbPolicy>> table = {
      {"simple: ROUND_ROBIN", Cluster::ROUND_ROBIN},
      {"simple: RANDOM", Cluster::RANDOM},
      {"simple: LEAST_REQUEST", Cluster::LEAST_REQUEST},
      {"simple: PASSTHROUGH", Cluster::CLUSTER_PROVIDED},
      {"consistent_hash { use_source_ip: true }", Cluster::RING_HASH},
      {"consistent_hash { use_source_ip: true maglev { table_size: 11 } }", Cluster::MAGLEV}};
  for (const auto& [text, policy] : table) {
    Rule(StrCat("traffic_policy { load_balancer { ", text, " } }"));
    EXPECT_EQ(Web().lb_policy(), policy) << text;
  }
  Rule("traffic_policy { load_balancer { consistent_hash { use_source_ip: true } } }");
  EXPECT_EQ(Web().ring_hash_lb_config().minimum_ring_size().value(), 1024u);
  Rule("traffic_policy { load_balancer { simple: ROUND_ROBIN warmup { duration { seconds: 30 } } } }");
  EXPECT_EQ(Web().round_robin_lb_config().slow_start_config().min_weight_percent().value(), 10);
}

TEST_F(ClusterTest, SubsetsInheritAndNameThemselves) {
  Rule(R"(traffic_policy { load_balancer { simple: RANDOM } tls { mode: SIMPLE } }
    subsets { name: "v1" labels { key: "version" value: "v1" } traffic_policy { tls { mode: DISABLE } } })");
  const Cluster whole = Web(), v1 = Web("v1");
  EXPECT_EQ(v1.lb_policy(), Cluster::RANDOM);
  EXPECT_TRUE(whole.has_transport_socket());
  EXPECT_FALSE(v1.has_transport_socket());
  EXPECT_EQ(Istio(v1).fields().at("subset").string_value(), "v1");
  EXPECT_EQ(Istio(v1).fields().at("config").string_value(),
            "/apis/networking.istio.io/v1/namespaces/shop/destination-rule/web");
  EXPECT_EQ(Istio(whole).fields().at("alpn_override").string_value(), "false");
  EXPECT_EQ(Istio(v1).fields().count("alpn_override"), 0u);
}

TEST_F(ClusterTest, APassthroughRuleMakesItsSubsetsPassthrough) {
  Rule(R"(traffic_policy { load_balancer { simple: PASSTHROUGH } }
    subsets { name: "v1" traffic_policy { load_balancer { simple: RANDOM } } })");
  EXPECT_EQ(Web("v1").type(), Cluster::ORIGINAL_DST);
  EXPECT_EQ(Web("v1").lb_policy(), Cluster::CLUSTER_PROVIDED);
}

TEST_F(ClusterTest, SecretsByNameAreForGatewaysAndSelectedWorkloads) {
  const std::string tls = "traffic_policy { tls { mode: MUTUAL credential_name: \"shop\" } }";
  Rule(tls);
  EXPECT_FALSE(Web().has_transport_socket());
  client_->type = model::ProxyType::kRouter;
  const auto secret =
      Tls(Web().transport_socket()).common_tls_context().tls_certificate_sds_secret_configs(0);
  EXPECT_EQ(secret.name(), "kubernetes://shop");
  client_->type = model::ProxyType::kSidecar;
  client_->metadata.labels = {{"app", "client"}};
  Rule(StrCat(tls, R"( workload_selector { match_labels { key: "app" value: "client" } })"));
  EXPECT_TRUE(Web().has_transport_socket());
}

TEST_F(ClusterTest, TlsCompliesWithTheStandard) {
  settings_.compliance = model::Compliance::kFips1402;
  SetSettings();
  const auto assumed = Tls(Web().transport_socket_matches(0).transport_socket()).common_tls_context();
  EXPECT_EQ(assumed.tls_params().tls_maximum_protocol_version(),
            envoy::extensions::transport_sockets::tls::v3::TlsParameters::TLSv1_2);
  Rule("traffic_policy { tls { mode: SIMPLE } }");
  const auto own = Tls(Web().transport_socket()).common_tls_context();
  EXPECT_EQ(own.tls_params().tls_maximum_protocol_version(),
            envoy::extensions::transport_sockets::tls::v3::TlsParameters::TLSv1_2);
}

TEST_F(ClusterTest, TlsWithoutFilesTrustsTheSystem) {
  Rule("traffic_policy { tls { mode: SIMPLE } }");
  const Cluster cluster = Web();
  const auto context = Tls(cluster.transport_socket()).common_tls_context();
  EXPECT_EQ(context.combined_validation_context().validation_context_sds_secret_config().name(),
            "file-root:system");
  EXPECT_TRUE(Http(cluster).upstream_http_protocol_options().auto_sni());
  EXPECT_TRUE(Http(cluster).upstream_http_protocol_options().auto_san_validation());
  Rule("traffic_policy { tls { mode: MUTUAL } }");  // lacks its certificate
  EXPECT_FALSE(Web().has_transport_socket());
}

TEST_F(ClusterTest, ProxyProtocolWrapsEveryTransport) {
  Rule("traffic_policy { proxy_protocol { version: V2 } }");
  const Cluster cluster = Web();
  ASSERT_EQ(cluster.transport_socket_matches_size(), 2);
  for (const auto& match : cluster.transport_socket_matches()) {
    EXPECT_EQ(match.transport_socket().name(), "envoy.transport_sockets.upstream_proxy_protocol");
  }
  EXPECT_FALSE(cluster.has_transport_socket());
}

TEST_F(ClusterTest, AStockEnvoyIsNotSentWhatItLacks) {
  EXPECT_EQ(Web().filters(0).name(), "istio.metadata_exchange");
  client_->extensions = model::ExtensionSet::Intern({"envoy.filters.network.tcp_proxy"});
  const Cluster cluster = Web();
  EXPECT_EQ(cluster.filters_size(), 0);
  EXPECT_THAT(
      Tls(cluster.transport_socket_matches(0).transport_socket()).common_tls_context().alpn_protocols(),
      ElementsAre("istio"));
}

TEST_F(ClusterTest, DnsServicesListTheirEndpoints) {
  auto service = AddExternal("shop", "db.example.com", {80});
  service->resolution = model::Resolution::kDnsLb;
  service->mesh_external = true;
  for (const Cluster& cluster : Outbound()) EXPECT_NE(cluster.name(), "outbound|80||db.example.com");
  AddEndpoint("db.example.com", "shop", "a.example.com", "disabled");
  const Cluster cluster = Find("outbound|80||db.example.com");
  EXPECT_EQ(cluster.type(), Cluster::STRICT_DNS);
  EXPECT_EQ(cluster.dns_lookup_family(), Cluster::V4_ONLY);
  EXPECT_EQ(
      cluster.load_assignment().endpoints(0).lb_endpoints(0).endpoint().address().socket_address().address(),
      "a.example.com");
  EXPECT_TRUE(Istio(cluster).fields().at("external").bool_value());
  EXPECT_FALSE(cluster.has_eds_cluster_config());
}

TEST_F(ClusterTest, WildcardsOfDynamicDnsAreForwardProxies) {
  auto service = AddExternal("shop", "*.example.com", {80});
  service->resolution = model::Resolution::kDynamicDns;
  const Cluster cluster = Find("outbound|80||*.example.com");
  EXPECT_EQ(cluster.cluster_type().name(), "envoy.clusters.dynamic_forward_proxy");
  EXPECT_EQ(cluster.lb_policy(), Cluster::CLUSTER_PROVIDED);
}

TEST_F(ClusterTest, PassingGatewaysHaveClustersBySni) {
  Rule("traffic_policy { tls { mode: SIMPLE } } subsets { name: \"v1\" }");
  client_->type = model::ProxyType::kRouter;
  std::vector<std::string> names;
  for (const Cluster& cluster : Outbound(/*dns_srv=*/true)) {
    names.push_back(cluster.name());
    EXPECT_FALSE(cluster.has_transport_socket());
  }
  EXPECT_THAT(names, ElementsAre("outbound_.80_._.web.shop.svc.cluster.local",
                                 "outbound_.80_.v1_.web.shop.svc.cluster.local"));
  EXPECT_FALSE(PassesThrough());
  Put(config::Kind::kGateway, "shop", "gw",
      mesh::Parse<istio::networking::v1alpha3::Gateway>(
          "servers { port { number: 15443 protocol: \"TLS\" } tls { mode: AUTO_PASSTHROUGH } }"));
  Look();
  EXPECT_TRUE(PassesThrough());
}

TEST_F(ClusterTest, StatNamesFollowTheMesh) {
  NewMeshConfig().set_outbound_cluster_stat_name("%SERVICE%_%SERVICE_PORT%");
  SetSettings();
  EXPECT_EQ(Web().alt_stat_name(), "web.shop_80;");
}

TEST_F(ClusterTest, IdentitiesCoverAliasesOfTheTrustDomain) {
  NewMeshConfig().add_trust_domain_aliases("old");
  SetSettings();
  web_->service_accounts = {"web.example.com"};
  AddEndpoint("web.shop.svc.cluster.local", "shop", "10.0.0.1", "istio");
  Look();
  const auto inputs = Collect();
  EXPECT_THAT(inputs.at(0).identities, ElementsAre("spiffe://cluster.local/ns/shop/sa/web",
                                                   "spiffe://old/ns/shop/sa/web", "web.example.com"));
}

TEST_F(ClusterTest, ClientsOfANamespaceShareInputs) {
  AddEndpoint("web.shop.svc.cluster.local", "shop", "10.0.0.1", "istio");
  Look();
  const auto first = Collect();
  client_ = std::const_pointer_cast<model::Proxy>(MakeProxy("shop", "client-2", "10.9.9.8"));
  client_->supports_ipv4 = true;
  client_->metadata.labels = {{"app", "other"}};
  client_->proxy_class = model::ClassOf(*client_);
  scope_ = mesh::ComputeProxyScope(*snapshot_, client_);
  const auto second = Collect();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(first == second);
  EXPECT_EQ(absl::HashOf(first[0]), absl::HashOf(second[0]));
}

// What one client was sent must not be what another is sent whom a rule selects.
TEST_F(ClusterTest, SelectedClientsHaveClustersOfTheirOwn) {
  PutDestinationRule("shop", "all", R"(host: "web" traffic_policy { load_balancer { simple: ROUND_ROBIN } })",
                     5);
  PutDestinationRule("shop", "some", R"(host: "web" traffic_policy { load_balancer { simple: RANDOM } }
    workload_selector { match_labels { key: "app" value: "b" } })");
  const auto generator = NewClusterGenerator();
  const auto sent = [&](std::string_view app) {
    client_ = std::const_pointer_cast<model::Proxy>(MakeProxy("shop", StrCat("client-", app), "10.9.9.8"));
    client_->metadata.labels = {{"app", std::string(app)}};
    Look();
    google::protobuf::Any any;
    const std::vector<std::string> name = {"outbound|80||web.shop.svc.cluster.local"};
    any.ParseFromString(GenerateFor(*generator, *snapshot_, *scope_, &name).at(0)->any.Unpacked());
    Cluster cluster;
    EXPECT_TRUE(any.UnpackTo(&cluster));
    return cluster.lb_policy();
  };
  EXPECT_EQ(sent("a"), Cluster::ROUND_ROBIN);
  EXPECT_EQ(sent("b"), Cluster::RANDOM);
  EXPECT_EQ(sent("a"), Cluster::ROUND_ROBIN);
}

}  // namespace
}  // namespace fairlead::gen
