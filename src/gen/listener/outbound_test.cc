#include <gmock/gmock.h>

#include "gen/listener/listener_fixture.h"

namespace fairlead::gen::listener {
namespace {

using model::Protocol;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

using OutboundTest = ListenerFixture;

TEST_F(OutboundTest, HttpServicesOfAPortShareAListenerOnAllAddresses) {
  AddVip("default", "a", "10.96.0.1", 80, Protocol::kHttp);
  AddVip("default", "b", "10.96.0.2", 80, Protocol::kHttp2);
  const Listeners listeners = Generated(Client());
  EXPECT_THAT(NamesOf(listeners), ElementsAre("0.0.0.0_80", "virtualInbound", "virtualOutbound"));
  const Listener& shared = listeners.at("0.0.0.0_80");
  EXPECT_FALSE(shared.bind_to_port().value());
  ASSERT_EQ(shared.filter_chains_size(), 1);
  EXPECT_THAT(shared.filter_chains(0).filter_chain_match().application_protocols(),
              ElementsAre("http/1.1", "h2c"));
  const HttpConnectionManager manager = Http(shared.filter_chains(0));
  EXPECT_EQ(manager.rds().route_config_name(), "80");
  EXPECT_EQ(manager.stat_prefix(), "outbound_0.0.0.0_80;");
  EXPECT_EQ(Tcp(shared.default_filter_chain()).cluster(), "PassthroughCluster");
}

TEST_F(OutboundTest, TcpServicesHaveListenersOnTheirAddresses) {
  AddVip("default", "db", "10.96.0.1", 5432, Protocol::kTcp);
  AddVip("default", "mongo", "10.96.0.2", 27017, Protocol::kMongo);
  const Listeners listeners = Generated(Client());
  EXPECT_EQ(ClusterOf(listeners.at("10.96.0.1_5432")), "outbound|5432||db.default.svc.cluster.local");
  EXPECT_EQ(listeners.at("10.96.0.1_5432").listener_filters_size(), 0);
  EXPECT_THAT(FilterNames(listeners.at("10.96.0.2_27017").filter_chains(0)),
              ElementsAre("envoy.filters.network.mongo_proxy", "envoy.filters.network.tcp_proxy"));
}

TEST_F(OutboundTest, UnnamedPortsSniff) {
  AddVip("default", "what", "10.96.0.1", 9000, Protocol::kUnsupported);
  const Listener listener = Generated(Client()).at("10.96.0.1_9000");
  ASSERT_EQ(listener.filter_chains_size(), 1);
  EXPECT_EQ(Http(listener.filter_chains(0)).rds().route_config_name(), "what.default.svc.cluster.local:9000");
  EXPECT_EQ(Tcp(listener.default_filter_chain()).cluster(), "outbound|9000||what.default.svc.cluster.local");
  ASSERT_EQ(listener.listener_filters_size(), 1);
  EXPECT_EQ(listener.listener_filters(0).name(), "envoy.filters.listener.http_inspector");
}

TEST_F(OutboundTest, UdpAndAliasesHaveNone) {
  AddVip("default", "dns", "10.96.0.1", 53, Protocol::kUdp);
  AddVip("default", "alias", "10.96.0.2", 80, Protocol::kHttp)->resolution = model::Resolution::kAlias;
  EXPECT_THAT(NamesOf(Generated(Client())), ElementsAre("virtualInbound", "virtualOutbound"));
}

TEST_F(OutboundTest, TcpAndHttpOnAllAddressesAreToldApart) {
  AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
  AddExternal("default", "tcp.example.com", {80})->ports[0].protocol = Protocol::kTcp;
  const Listener listener = Generated(Client()).at("0.0.0.0_80");
  ASSERT_EQ(listener.filter_chains_size(), 1);
  EXPECT_EQ(Http(listener.filter_chains(0)).rds().route_config_name(), "80");
  EXPECT_EQ(Tcp(listener.default_filter_chain()).cluster(), "outbound|80||tcp.example.com");
}

TEST_F(OutboundTest, OfTwoTcpServicesOnOneAddressTheFirstIsKept) {
  AddExternal("default", "one.example.com", {7000}, 9)->ports[0].protocol = Protocol::kTcp;
  AddExternal("default", "two.example.com", {7000}, 1)->ports[0].protocol = Protocol::kTcp;
  EXPECT_EQ(ClusterOf(Generated(Client()).at("0.0.0.0_7000")), "outbound|7000||one.example.com");
}

TEST_F(OutboundTest, TlsServicesOnAllAddressesAreToldApartBySni) {
  AddExternal("default", "one.example.com", {443})->ports[0].protocol = Protocol::kTls;
  AddExternal("default", "two.example.com", {443})->ports[0].protocol = Protocol::kHttps;
  const Listener listener = Generated(Client()).at("0.0.0.0_443");
  ASSERT_EQ(listener.filter_chains_size(), 2);
  EXPECT_THAT(listener.filter_chains(0).filter_chain_match().server_names(), ElementsAre("one.example.com"));
  EXPECT_THAT(listener.filter_chains(1).filter_chain_match().server_names(), ElementsAre("two.example.com"));
  EXPECT_EQ(listener.listener_filters(0).name(), "envoy.filters.listener.tls_inspector");
}

TEST_F(OutboundTest, ARangeOfAddressesIsMatchedOnAllAddresses) {
  auto service = AddExternal("default", "net.example.com", {9000});
  service->ports[0].protocol = Protocol::kTcp;
  service->address = "10.20.0.0/16";
  const Listener listener = Generated(Client()).at("0.0.0.0_9000");
  ASSERT_EQ(listener.filter_chains_size(), 1);
  const auto& ranges = listener.filter_chains(0).filter_chain_match().prefix_ranges();
  ASSERT_EQ(ranges.size(), 1);
  EXPECT_EQ(ranges[0].address_prefix(), "10.20.0.0");
  EXPECT_EQ(ranges[0].prefix_len().value(), 16u);
  EXPECT_EQ(listener.default_filter_chain().name(), "PassthroughFilterChain");
}

TEST_F(OutboundTest, EndpointsOfHeadlessTcpServicesHaveListenersExceptOneself) {
  SetEndpoints(AddHeadless("default", "db", 5432, Protocol::kTcp),
               {"10.1.0.1", "10.1.0.2", "host.example.com"});
  EXPECT_THAT(NamesOf(Generated(Client("default", "10.1.0.1"))), Contains("10.1.0.2_5432"));
  EXPECT_THAT(NamesOf(Generated(Client("default", "10.1.0.1"))), Not(Contains("10.1.0.1_5432")));
  EXPECT_THAT(NamesOf(Generated(Client("default", "10.1.0.9"))),
              ElementsAre("10.1.0.1_5432", "10.1.0.2_5432", "virtualInbound", "virtualOutbound"));
}

TEST_F(OutboundTest, AnotherServiceOnAnEndpointsAddressIsThereForTheEndpointToo) {
  SetEndpoints(AddHeadless("default", "db", 5432, Protocol::kTcp), {"10.1.0.1"});
  AddVip("zeta", "vip", "10.1.0.1", 5432, Protocol::kTcp);
  EXPECT_EQ(ClusterOf(Generated(Client("default", "10.1.0.9")).at("10.1.0.1_5432")),
            "outbound|5432||db.default.svc.cluster.local");
  EXPECT_EQ(ClusterOf(Generated(Client("default", "10.1.0.1")).at("10.1.0.1_5432")),
            "outbound|5432||vip.zeta.svc.cluster.local");
}

TEST_F(OutboundTest, AHeadlessServiceWithoutEndpointsHasNone) {
  AddHeadless("default", "db", 5432, Protocol::kTcp);
  EXPECT_THAT(NamesOf(Generated(Client())), ElementsAre("virtualInbound", "virtualOutbound"));
}

TEST_F(OutboundTest, ListenersFollowTheEndpoints) {
  const auto service = AddHeadless("default", "db", 5432, Protocol::kTcp);
  SetEndpoints(service, {"10.1.0.2"});
  EXPECT_THAT(NamesOf(Generated(Client())), Contains("10.1.0.2_5432"));
  SetEndpoints(service, {"10.1.0.3"});
  EXPECT_THAT(NamesOf(Generated(Client())),
              ElementsAre("10.1.0.3_5432", "virtualInbound", "virtualOutbound"));
}

TEST_F(OutboundTest, WorkloadsOfANamespaceShareBytes) {
  AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
  AddVip("default", "db", "10.96.0.1", 5432, Protocol::kTcp);
  const mesh::SnapshotPtr snapshot = Build();
  const auto one = Generate(snapshot, Client("default", "10.1.0.1"));
  const auto two = Generate(snapshot, Client("default", "10.1.0.2"));
  EXPECT_EQ(one, two) << "the same pointers";
}

TEST_F(OutboundTest, AppsOfANamespaceShareAllButConnectionManagers) {
  NewMeshConfig().set_enable_tracing(true);
  SetSettings();
  AddVip("default", "db", "10.96.0.1", 5432, Protocol::kTcp);
  AddVip("default", "other", "10.96.0.2", 9000, Protocol::kUnsupported);
  AddVip("default", "web", "10.96.0.3", 80, Protocol::kHttp);
  const mesh::SnapshotPtr snapshot = Build();
  const auto of_app = [&](const std::string& app) {
    auto proxy = Client();
    proxy->metadata.labels = {{"service.istio.io/canonical-name", app}};
    return Generate(snapshot, proxy);
  };
  const auto one = of_app("one"), two = of_app("two");
  ASSERT_EQ(one.size(), two.size());
  std::map<std::string, bool> shared;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i]->name, two[i]->name);
    shared[one[i]->name.str()] = one[i] == two[i];
  }
  EXPECT_THAT(shared, UnorderedElementsAre(Pair("0.0.0.0_80", false), Pair("10.96.0.1_5432", true),
                                           Pair("10.96.0.2_9000", false), Pair("virtualInbound", false),
                                           Pair("virtualOutbound", true)));
  EXPECT_EQ(one, of_app("one"));
}

TEST_F(OutboundTest, ReservedPortsAreLeftAlone) {
  AddVip("default", "status", "10.96.0.1", 15021, Protocol::kHttp);
  AddVip("default", "virtual", "10.96.0.2", 15001, Protocol::kHttp);
  AddVip("default", "elsewhere", "10.96.0.3", 15021, Protocol::kTcp);
  auto proxy = Client();
  proxy->metadata.envoy_status_port = 15021;
  EXPECT_THAT(NamesOf(Generated(proxy)), ElementsAre("10.96.0.3_15021", "virtualInbound", "virtualOutbound"));
}

TEST_F(OutboundTest, ASidecarsOwnPortIsNotAddedToByTheCatchAll) {
  AddVip("bank", "teller", "10.96.0.1", 8000, Protocol::kHttp);
  AddExternal("default", "tcp.example.com", {8000})->ports[0].protocol = Protocol::kTcp;
  PutSidecar("default", "s", R"(
      egress { port { number: 8000 protocol: "HTTP" name: "web" } hosts: "bank/*" }
      egress { hosts: "*/*" })");
  const Listener listener = Generated(Client()).at("0.0.0.0_8000");
  EXPECT_EQ(Tcp(listener.default_filter_chain()).cluster(), "PassthroughCluster");
}

TEST_F(OutboundTest, ASocketOfASidecarIsBoundAndNamesItsRoute) {
  AddVip("bank", "teller", "10.96.0.1", 8000, Protocol::kHttp);
  PutSidecar("default", "s", R"(
      egress { port { number: 0 protocol: "HTTP" name: "u" } bind: "unix:///var/run/x.sock" hosts: "bank/*" })");
  const Listener listener = Generated(Client()).at("unix:///var/run/x.sock_0");
  EXPECT_EQ(listener.address().pipe().path(), "/var/run/x.sock");
  EXPECT_FALSE(listener.has_bind_to_port());
  EXPECT_EQ(Http(listener.filter_chains(0)).rds().route_config_name(), "unix:///var/run/x.sock");
}

TEST_F(OutboundTest, AProxyListenerOfASidecarServesAllItsHosts) {
  AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
  AddVip("default", "db", "10.96.0.2", 5432, Protocol::kTcp);
  PutSidecar("default", "s", R"(egress {
      port { number: 3128 protocol: "HTTP_PROXY" name: "p" } bind: "127.0.0.1" capture_mode: NONE hosts: "*/*" })");
  const auto listeners = Generated(Client());
  const Listener& listener = listeners.at("127.0.0.1_3128");
  ASSERT_EQ(listener.filter_chains_size(), 1)
      << "whatever comes is HTTP, for services of any port and protocol";
  EXPECT_EQ(Http(listener.filter_chains(0)).rds().route_config_name(), "3128");
  EXPECT_FALSE(listeners.contains("0.0.0.0_80"));
  EXPECT_FALSE(listeners.contains("10.96.0.2_5432"));
}

TEST_F(OutboundTest, WithoutInterceptionListenersBindToLocalPorts) {
  AddVip("default", "web", "10.96.0.1", 8080, Protocol::kHttp);
  AddVip("default", "low", "10.96.0.2", 81, Protocol::kHttp);
  auto proxy = Client();
  proxy->metadata.interception_mode = model::InterceptionMode::kNone;
  proxy->metadata.unprivileged_pod = "true";
  const Listeners listeners = Generated(proxy);
  EXPECT_THAT(NamesOf(listeners), ElementsAre("127.0.0.1_8080")) << "81 would take privileges";
  EXPECT_EQ(listeners.at("127.0.0.1_8080").max_connections_to_accept_per_socket_event().value(), 1u);
}

TEST_F(OutboundTest, UnknownDestinationsFollowThePolicy) {
  EXPECT_EQ(Tcp(Generated(Client()).at("virtualOutbound").filter_chains(1)).cluster(), "PassthroughCluster");
  PutSidecar("default", "s", R"(outbound_traffic_policy {
      mode: ALLOW_ANY egress_proxy { host: "gw.example.com" port { number: 8443 } } } egress { hosts: "*/*" })");
  EXPECT_EQ(Tcp(Generated(Client()).at("virtualOutbound").filter_chains(1)).cluster(),
            "outbound|8443||gw.example.com");
  PutSidecar("default", "s", "outbound_traffic_policy {} egress { hosts: '*/*' }");
  EXPECT_EQ(Tcp(Generated(Client()).at("virtualOutbound").filter_chains(1)).cluster(), "BlackHoleCluster");
}

TEST_F(OutboundTest, TheHttpProxyPortIsAListenerOfItsOwn) {
  NewMeshConfig().set_proxy_http_port(15080);
  SetSettings();
  const Listener listener = Generated(Client()).at("127.0.0.1_15080");
  const HttpConnectionManager manager = Http(listener.filter_chains(0));
  EXPECT_EQ(manager.rds().route_config_name(), "http_proxy");
  EXPECT_TRUE(manager.http_protocol_options().allow_absolute_url().value());
}

TEST_F(OutboundTest, DualStackServicesHaveBothAddresses) {
  AddVip("default", "db", "10.96.0.1", 5432, Protocol::kTcp)->cluster_vips = {"10.96.0.1", "fd00::1"};
  auto proxy = Client();
  proxy->supports_ipv6 = true;
  EXPECT_EQ(Generated(proxy).at("10.96.0.1_5432").additional_addresses_size(), 0)
      << "without ISTIO_DUAL_STACK";
  settings_.features.dual_stack = true;
  SetSettings();
  const Listener listener = Generated(proxy).at("10.96.0.1_5432");
  ASSERT_EQ(listener.additional_addresses_size(), 1);
  EXPECT_EQ(listener.additional_addresses(0).address().socket_address().address(), "fd00::1");
}

TEST_F(OutboundTest, RoutersHaveNone) {
  AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
  auto proxy = Client();
  proxy->type = model::ProxyType::kRouter;
  EXPECT_THAT(Generated(proxy), IsEmpty());
}

TEST_F(OutboundTest, NamesPickFromAll) {
  AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
  const std::vector<std::string> names = {"0.0.0.0_80", "nothing"};
  const auto resources = Generate(Build(), Client(), &names);
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0]->name, "0.0.0.0_80");
}

}  // namespace
}  // namespace fairlead::gen::listener
