#include <gmock/gmock.h>

#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/gateway/gateway_fixture.h"
#include "istio/extensions/v1alpha1/traffic_extension.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::gen::gateway {
namespace {

using envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

DownstreamTlsContext TlsOf(const FilterChain& chain) {
  return Unpack<DownstreamTlsContext>(chain.transport_socket().typed_config());
}

constexpr char kHttp[] = R"(servers { port { number: 80 protocol: "HTTP" name: "http" } hosts: "*" })";

class GatewayListenersTest : public GatewayFixture {};

TEST_F(GatewayListenersTest, WithoutGatewaysThereAreNone) { EXPECT_THAT(Listeners(), IsEmpty()); }

TEST_F(GatewayListenersTest, PlaintextHttpIsOneChain) {
  PutGateway("a", "gw", kHttp);
  const Listener listener = Listeners().at("0.0.0.0_80");
  EXPECT_EQ(listener.traffic_direction(), envoy::config::core::v3::OUTBOUND);
  EXPECT_THAT(listener.listener_filters(), IsEmpty());
  ASSERT_EQ(listener.filter_chains_size(), 1);
  EXPECT_FALSE(listener.filter_chains(0).has_filter_chain_match());
  const HttpConnectionManager http = Http(listener.filter_chains(0));
  EXPECT_EQ(http.stat_prefix(), "outbound_0.0.0.0_80;");
  EXPECT_EQ(http.rds().route_config_name(), "http.80");
  EXPECT_EQ(http.server_name(), "istio-envoy");
  EXPECT_TRUE(http.use_remote_address().value());
  EXPECT_EQ(http.forward_client_cert_details(), HttpConnectionManager::SANITIZE_SET);
}

TEST_F(GatewayListenersTest, HttpsServersAreChainsByName) {
  PutGateway("a", "gw", R"(
    servers { port { number: 443 protocol: "HTTPS" name: "one" } hosts: "b.com" hosts: "a.com" name: "stat"
              tls { mode: SIMPLE credential_name: "cert" } }
    servers { port { number: 443 protocol: "HTTPS" name: "rest" } hosts: "*"
              tls { mode: MUTUAL credential_name: "other" subject_alt_names: "client" } })");
  const Listener listener = Listeners().at("0.0.0.0_443");
  ASSERT_EQ(listener.filter_chains_size(), 2);
  EXPECT_THAT(listener.filter_chains(0).filter_chain_match().server_names(), ElementsAre("a.com", "b.com"));
  EXPECT_FALSE(listener.filter_chains(1).has_filter_chain_match());
  EXPECT_EQ(Http(listener.filter_chains(0)).stat_prefix(), "stat");
  EXPECT_EQ(Http(listener.filter_chains(1)).rds().route_config_name(), "https.443.rest.gw.a");
  const auto first = TlsOf(listener.filter_chains(0)), second = TlsOf(listener.filter_chains(1));
  EXPECT_EQ(first.common_tls_context().tls_certificate_sds_secret_configs(0).name(), "kubernetes://cert");
  EXPECT_FALSE(first.require_client_certificate().value());
  EXPECT_TRUE(second.require_client_certificate().value());
  const auto& clients = second.common_tls_context().combined_validation_context();
  EXPECT_EQ(clients.validation_context_sds_secret_config().name(), "kubernetes://other-cacert");
  EXPECT_THAT(listener.listener_filters(), testing::SizeIs(1));
}

TEST_F(GatewayListenersTest, VersionsAndCiphersAreTheServersElseTheMeshs) {
  NewMeshConfig().mutable_tls_defaults()->add_cipher_suites("AES256-SHA");
  NewMeshConfig().mutable_tls_defaults()->add_ecdh_curves("P-256");
  SetSettings();
  PutGateway("a", "gw", R"(
    servers { port { number: 443 protocol: "HTTPS" name: "one" } hosts: "a.com"
              tls { mode: SIMPLE credential_name: "c" min_protocol_version: TLSV1_3 cipher_suites: "AES128-SHA"
                    cipher_suites: "NOPE" cipher_suites: "AES128-SHA" } }
    servers { port { number: 443 protocol: "HTTPS" name: "two" } hosts: "b.com"
              tls { mode: SIMPLE credential_name: "c" } })");
  const Listener listener = Listeners().at("0.0.0.0_443");
  const auto one = TlsOf(listener.filter_chains(0)).common_tls_context().tls_params();
  EXPECT_THAT(one.cipher_suites(), ElementsAre("AES128-SHA"));
  EXPECT_THAT(one.ecdh_curves(), ElementsAre("P-256"));
  EXPECT_EQ(one.tls_minimum_protocol_version(),
            envoy::extensions::transport_sockets::tls::v3::TlsParameters::TLSv1_3);
  EXPECT_THAT(TlsOf(listener.filter_chains(1)).common_tls_context().tls_params().cipher_suites(),
              ElementsAre("AES256-SHA"));
}

TEST_F(GatewayListenersTest, NetworkPluginsComeBeforeHttp) {
  istio::extensions::v1alpha1::TrafficExtension plugin;
  plugin.mutable_wasm()->set_url("oci://r.example.com/m");
  plugin.mutable_wasm()->set_type(istio::extensions::v1alpha1::PluginType::NETWORK);
  Put(config::Kind::kTrafficExtension, "istio-system", "net", plugin);
  PutGateway("a", "gw", StrCat(kHttp, R"(
    servers { port { number: 443 protocol: "HTTPS" name: "one" } hosts: "a.com"
              tls { mode: SIMPLE credential_name: "cert" } })"));
  for (const auto& [name, listener] : Listeners()) {
    const FilterChain& chain = listener.filter_chains(0);
    ASSERT_EQ(chain.filters_size(), 2) << name;
    EXPECT_EQ(chain.filters(0).name(), "extensions.istio.io/trafficextension/istio-system.net");
    EXPECT_TRUE(chain.filters(0).has_config_discovery());
  }
}

TEST_F(GatewayListenersTest, TcpLeadsWhereTheFirstRouteSays) {
  PutGateway("a", "gw", R"(servers { port { number: 9000 protocol: "TCP" } hosts: "*" }
                           servers { port { number: 9001 protocol: "TCP" } hosts: "*" })");
  PutVirtualService("a", "vs", R"(hosts: "*" gateways: "a/gw"
    tcp { match { port: 9000 } route { destination { host: "db.a.svc.cluster.local" port { number: 5432 } } } })");
  const auto listeners = Listeners();
  ASSERT_THAT(listeners, ElementsAre(Key("0.0.0.0_9000"))) << "a port without routes is not opened";
  EXPECT_EQ(Tcp(listeners.at("0.0.0.0_9000").filter_chains(0)).cluster(),
            "outbound|5432||db.a.svc.cluster.local");
}

TEST_F(GatewayListenersTest, PassedThroughTlsIsRoutedByName) {
  PutGateway("a", "gw", R"(servers { port { number: 443 protocol: "TLS" } hosts: "a/*.com"
                                     tls { mode: PASSTHROUGH } })");
  const std::string routes = R"(hosts: "x.com" gateways: "a/gw"
    tls { match { sni_hosts: "x.com" } route { destination { host: "x.a.svc.cluster.local" } } }
    tls { match { sni_hosts: "x.com" } route { destination { host: "never.a.svc.cluster.local" } } })";
  PutVirtualService("b", "other-namespace", routes);
  EXPECT_THAT(Listeners(), IsEmpty());
  PutVirtualService("a", "vs", routes);
  const Listener listener = Listeners().at("0.0.0.0_443");
  ASSERT_EQ(listener.filter_chains_size(), 1) << "Envoy refuses a second chain for a name";
  EXPECT_THAT(listener.filter_chains(0).filter_chain_match().server_names(), ElementsAre("x.com"));
  EXPECT_FALSE(listener.filter_chains(0).has_transport_socket());
}

TEST_F(GatewayListenersTest, AutoPassthroughHasAChainForEachCluster) {
  AddService("shop", "web", {80});
  PutDestinationRule("shop", "web", R"(host: "web.shop.svc.cluster.local" subsets { name: "v1" })");
  AddExternal("shop", "api.example.com", {443});
  PutGateway("a", "gw", R"(servers { port { number: 15443 protocol: "TLS" } hosts: "*.local"
                                     tls { mode: AUTO_PASSTHROUGH } })");
  const Listener listener = Listeners().at("0.0.0.0_15443");
  std::vector<std::string> names;
  for (const FilterChain& chain : listener.filter_chains()) {
    names.push_back(chain.filter_chain_match().server_names(0));
    EXPECT_EQ(Tcp(chain).cluster(), names.back());
    EXPECT_EQ(chain.filter_chain_match().application_protocols_size(), 5);
  }
  EXPECT_THAT(names, ElementsAre("outbound_.80_._.web.shop.svc.cluster.local",
                                 "outbound_.80_.v1_.web.shop.svc.cluster.local"));
}

TEST_F(GatewayListenersTest, UnprivilegedRoutersDoNotOpenLowPorts) {
  PutGateway("a", "gw", kHttp);
  router_->metadata.unprivileged_pod = "true";
  EXPECT_THAT(Listeners(), IsEmpty());
}

TEST_F(GatewayListenersTest, TopologyAndConnectionSettingsAreTheProxys) {
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  auto* topology = config->mutable_gateway_topology();
  topology->set_num_trusted_proxies(2);
  topology->set_forward_client_cert_details(istio::mesh::v1alpha1::ForwardClientCertDetails::SANITIZE);
  topology->mutable_proxy_protocol();
  config->mutable_connection_settings()->set_profile(
      istio::mesh::v1alpha1::ProxyConfig::ConnectionSettings::EDGE);
  router_->metadata.proxy_config = config;
  PutGateway("a", "gw", kHttp);
  const Listener listener = Listeners().at("0.0.0.0_80");
  EXPECT_EQ(listener.listener_filters(0).name(), "envoy.filters.listener.proxy_protocol");
  EXPECT_EQ(listener.per_connection_buffer_limit_bytes().value(), 32768u);
  const HttpConnectionManager http = Http(listener.filter_chains(0));
  EXPECT_EQ(http.xff_num_trusted_hops(), 2u);
  EXPECT_FALSE(http.has_set_current_client_cert_details()) << "nothing of the client is told";
  EXPECT_EQ(http.common_http_protocol_options().idle_timeout().seconds(), 3600);
}

TEST_F(GatewayListenersTest, Http3HasAListenerOfItsOwn) {
  settings_.gateways.quic = true;
  SetSettings();
  auto service = AddService("istio-system", "gw", {443}, {{"app", "gw"}});
  service->ports.push_back(service->ports[0]);
  service->ports[1].protocol = model::Protocol::kUdp;
  config::ServiceSpec spec = service->source->Spec<config::ServiceSpec>();
  spec.ports.push_back(spec.ports[0]);
  spec.ports[1].name = "udp";
  spec.ports[1].protocol = "UDP";
  service->ports[1].name = "udp";
  service->source = Put(config::Kind::kService, "istio-system", "gw", spec);
  AddPod("istio-system", "gw", "10.0.0.1", {{"app", "gw"}});
  PutGateway("a", "gw", R"(servers { port { number: 443 protocol: "HTTPS" name: "s" } hosts: "a.com"
                                     tls { mode: SIMPLE credential_name: "c" } })");
  const auto listeners = Listeners();
  ASSERT_THAT(listeners, ElementsAre(Key("0.0.0.0_443"), Key("udp_0.0.0.0_443")));
  const Listener& quic = listeners.at("udp_0.0.0.0_443");
  EXPECT_EQ(quic.address().socket_address().protocol(), envoy::config::core::v3::SocketAddress::UDP);
  EXPECT_EQ(quic.filter_chains(0).transport_socket().name(), "envoy.transport_sockets.quic");
  EXPECT_EQ(Http(quic.filter_chains(0)).codec_type(), HttpConnectionManager::HTTP3);
}

}  // namespace
}  // namespace fairlead::gen::gateway
