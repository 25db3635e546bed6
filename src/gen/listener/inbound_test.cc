#include <gmock/gmock.h>

#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/listener/listener_fixture.h"

namespace fairlead::gen::listener {
namespace {

using envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext;
using model::Protocol;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class InboundTest : public ListenerFixture {
 protected:
  InboundTest() { AddPod("default", "client", "10.1.0.1", {{"app", "web"}}); }

  void AddOwn(std::string_view name, uint32_t port, Protocol protocol) {
    auto service = AddService("default", name, {port}, {{"app", "web"}});
    service->ports[0].protocol = protocol;
  }
  // The chains for a port; "alpn,…|transport|protocol inside|mutual TLS" of each.
  std::vector<std::string> Chains(uint32_t port) {
    std::vector<std::string> found;
    const Listener listener = Generated(Client()).at("virtualInbound");
    for (const FilterChain& chain : listener.filter_chains()) {
      const auto& match = chain.filter_chain_match();
      if (match.destination_port().value() != port) continue;
      const bool http = chain.filters().rbegin()->name() == "envoy.filters.network.http_connection_manager";
      found.push_back(StrCat(Join(match.application_protocols(), ","), "|", match.transport_protocol(), "|",
                             std::string_view(http ? "http" : "tcp"), "|",
                             std::string_view(chain.has_transport_socket() ? "mtls" : "")));
    }
    return found;
  }
};

constexpr char kAll[] = "istio,istio-peer-exchange,istio-http/1.0,istio-http/1.1,istio-h2";

TEST_F(InboundTest, PermissivePortsTakeSidecarsAndOthers) {
  AddOwn("http", 80, Protocol::kHttp);
  AddOwn("tcp", 81, Protocol::kTcp);
  AddOwn("auto", 82, Protocol::kUnsupported);
  EXPECT_THAT(Chains(80), ElementsAre(StrCat(kAll, "|tls|http|mtls"), "|raw_buffer|http|"));
  EXPECT_THAT(Chains(81), ElementsAre(StrCat(kAll, "|tls|tcp|mtls"), "|tls|tcp|", "|raw_buffer|tcp|"));
  EXPECT_THAT(
      Chains(82),
      ElementsAre("istio-http/1.0,istio-http/1.1,istio-h2|tls|http|mtls", "http/1.1,h2c|raw_buffer|http|",
                  "istio-peer-exchange,istio|tls|tcp|mtls", "|raw_buffer|tcp|", "|tls|tcp|"));
}

TEST_F(InboundTest, StrictPortsTakeMutualTlsAlone) {
  AddOwn("http", 80, Protocol::kHttp);
  AddOwn("auto", 82, Protocol::kUnsupported);
  PutPeerAuthentication("default", "p", "mtls { mode: STRICT }");
  EXPECT_THAT(Chains(80), ElementsAre("|tls|http|mtls"));
  EXPECT_THAT(Chains(82),
              ElementsAre("istio-http/1.0,istio-http/1.1,istio-h2|tls|http|mtls", "|tls|tcp|mtls"));
}

TEST_F(InboundTest, DisabledPortsTakePlaintextAlone) {
  AddOwn("http", 80, Protocol::kHttp);
  AddOwn("udp", 53, Protocol::kUdp);
  PutPeerAuthentication("default", "p", "mtls { mode: DISABLE }");
  EXPECT_THAT(Chains(80), ElementsAre("|raw_buffer|http|"));
  EXPECT_THAT(Chains(53), ElementsAre("|raw_buffer|tcp|")) << "UDP ports get TCP's chains";
}

TEST_F(InboundTest, PortModesReachPortsOfNoService) {
  AddOwn("http", 80, Protocol::kHttp);
  PutPeerAuthentication("default", "p", R"(selector { match_labels { key: "app" value: "web" } }
      mtls { mode: STRICT } port_level_mtls { key: 80 value { mode: DISABLE } }
      port_level_mtls { key: 9999 value { mode: DISABLE } })");
  EXPECT_THAT(Chains(80), ElementsAre("|raw_buffer|http|"));
  EXPECT_THAT(Chains(9999), ElementsAre("http/1.1,h2c|raw_buffer|http|", "|raw_buffer|tcp|"));
  EXPECT_THAT(Chains(0), SizeIs(2)) << "the rest is strict";
}

TEST_F(InboundTest, TheOldestServiceOfAPortDecides) {
  AddOwn("new", 80, Protocol::kTcp);
  auto old = AddService("default", "old", {80}, {{"app", "web"}});
  old->creation_time = 1;
  const Listener listener = Generated(Client()).at("virtualInbound");
  EXPECT_THAT(Chains(80), SizeIs(2));
  const HttpConnectionManager manager = Http(*listener.filter_chains().rbegin());
  EXPECT_EQ(manager.route_config().virtual_hosts(0).routes(0).decorator().operation(),
            "old.default.svc.cluster.local:80/*");
  EXPECT_EQ(manager.route_config().name(), "inbound|80||");
  EXPECT_EQ(manager.stat_prefix(), "inbound_0.0.0.0_80;");
}

TEST_F(InboundTest, InspectorsAreOffWhereChainsDontNeedThem) {
  AddOwn("http", 80, Protocol::kHttp);
  PutPeerAuthentication("default", "p", R"(selector { match_labels { key: "app" value: "web" } }
      mtls { mode: PERMISSIVE } port_level_mtls { key: 80 value { mode: DISABLE } })");
  const Listener listener = Generated(Client()).at("virtualInbound");
  ASSERT_EQ(listener.listener_filters_size(), 3);
  EXPECT_EQ(listener.listener_filters(0).name(), "envoy.filters.listener.original_dst");
  const auto& tls = listener.listener_filters(1).filter_disabled().or_match();
  ASSERT_EQ(tls.rules_size(), 2);
  EXPECT_EQ(tls.rules(0).destination_port_range().start(), 80);
  EXPECT_EQ(tls.rules(1).destination_port_range().end(), 15007);
  EXPECT_EQ(listener.listener_filters(2).name(), "envoy.filters.listener.http_inspector");
}

TEST_F(InboundTest, WhereNothingElseIsTlsTheInspectorIsOnForPortsThatAre) {
  AddOwn("http", 80, Protocol::kHttp);
  PutPeerAuthentication("default", "p", R"(selector { match_labels { key: "app" value: "web" } }
      mtls { mode: DISABLE } port_level_mtls { key: 80 value { mode: STRICT } })");
  const Listener listener = Generated(Client()).at("virtualInbound");
  const auto& tls = listener.listener_filters(1);
  EXPECT_EQ(tls.name(), "envoy.filters.listener.tls_inspector");
  EXPECT_EQ(tls.filter_disabled().not_match().destination_port_range().start(), 80);
}

TEST_F(InboundTest, MutualTlsTrustsTheMeshsDomains) {
  NewMeshConfig().add_trust_domain_aliases("old.local");
  NewMeshConfig().add_trust_domain_aliases("cluster.local");
  SetSettings();
  AddOwn("tcp", 81, Protocol::kTcp);
  PutPeerAuthentication("default", "p", "mtls { mode: STRICT }");
  const Listener listener = Generated(Client()).at("virtualInbound");
  const auto context =
      Unpack<DownstreamTlsContext>(listener.filter_chains().rbegin()->transport_socket().typed_config());
  const auto& common = context.common_tls_context();
  EXPECT_TRUE(context.require_client_certificate().value());
  EXPECT_THAT(common.alpn_protocols(), ElementsAre("istio-peer-exchange", "h2", "http/1.1"));
  EXPECT_EQ(common.tls_certificate_sds_secret_configs(0).name(), "default");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const auto& peers =
      common.combined_validation_context().default_validation_context().match_subject_alt_names();
#pragma GCC diagnostic pop
  ASSERT_EQ(peers.size(), 2);
  EXPECT_EQ(peers[0].prefix(), "spiffe://cluster.local/");
  EXPECT_EQ(peers[1].prefix(), "spiffe://old.local/");
}

TEST_F(InboundTest, MutualTlsCompliesWithTheStandard) {
  settings_.compliance = model::Compliance::kPqc;
  SetSettings();
  AddOwn("tcp", 81, Protocol::kTcp);
  PutPeerAuthentication("default", "p", "mtls { mode: STRICT }");
  const Listener listener = Generated(Client()).at("virtualInbound");
  const auto context =
      Unpack<DownstreamTlsContext>(listener.filter_chains().rbegin()->transport_socket().typed_config());
  EXPECT_THAT(context.common_tls_context().tls_params().ecdh_curves(), ElementsAre("X25519MLKEM768"));
}

TEST_F(InboundTest, ASidecarsIngressReplacesTheServices) {
  AddOwn("http", 80, Protocol::kHttp);
  PutSidecar("default", "s", R"(
      ingress { port { number: 7000 protocol: "TCP" name: "t" } default_endpoint: "127.0.0.1:7001" }
      ingress { port { number: 7100 protocol: "HTTP" name: "h" } bind: "10.9.9.9" capture_mode: NONE })");
  EXPECT_THAT(Chains(80), IsEmpty());
  EXPECT_THAT(Chains(7000), SizeIs(3));
  const Listeners listeners = Generated(Client());
  const Listener& bound = listeners.at("10.9.9.9_7100");
  EXPECT_FALSE(bound.has_bind_to_port());
  EXPECT_EQ(bound.filter_chains(0).name(), "10.9.9.9_7100");
  EXPECT_EQ(bound.listener_filters(0).name(), "envoy.filters.listener.tls_inspector")
      << "nothing was redirected";
  EXPECT_EQ(listeners.at("virtualInbound").filter_chains(6).name(), "10.1.0.1_7000")
      << "the pod's own address";
}

TEST_F(InboundTest, WithoutInterceptionOnlyAnIngressListens) {
  AddOwn("http", 80, Protocol::kHttp);
  auto proxy = Client();
  proxy->metadata.interception_mode = model::InterceptionMode::kNone;
  EXPECT_THAT(NamesOf(Generated(proxy)), ElementsAre("127.0.0.1_80")) << "the outbound one";
  PutSidecar("default", "s", R"(
      ingress { port { number: 7000 protocol: "TCP" name: "t" } default_endpoint: "127.0.0.1:7001" }
      egress { hosts: "~/*" })");
  EXPECT_THAT(NamesOf(Generated(proxy)), ElementsAre("10.1.0.1_7000"));
}

TEST_F(InboundTest, TproxyIsTransparent) {
  auto proxy = Client();
  proxy->metadata.interception_mode = model::InterceptionMode::kTproxy;
  const Listeners listeners = Generated(proxy);
  EXPECT_TRUE(listeners.at("virtualInbound").transparent().value());
  EXPECT_TRUE(listeners.at("virtualOutbound").transparent().value());
  EXPECT_EQ(listeners.at("virtualInbound").listener_filters(1).name(), "envoy.filters.listener.original_src");
}

}  // namespace
}  // namespace fairlead::gen::listener
