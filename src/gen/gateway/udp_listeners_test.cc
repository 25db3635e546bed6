#include <gmock/gmock.h>

#include "config/derived_object.h"
#include "envoy/extensions/filters/udp/udp_proxy/v3/route.pb.h"
#include "envoy/extensions/filters/udp/udp_proxy/v3/udp_proxy.pb.h"
#include "envoy/extensions/matching/input_matchers/runtime_fraction/v3/runtime_fraction.pb.h"
#include "gen/gateway/gateway_fixture.h"

// Listeners of UDP. Their clusters are tested in gen/cluster.
namespace fairlead::gen::gateway {
namespace {

using envoy::config::core::v3::SocketAddress;
using envoy::extensions::filters::udp::udp_proxy::v3::Route;
using envoy::extensions::filters::udp::udp_proxy::v3::UdpProxyConfig;
using envoy::extensions::matching::input_matchers::runtime_fraction::v3::RuntimeFraction;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

constexpr char kUdp[] = R"(servers { port { number: 53 protocol: "UDP" name: "default" } hosts: "*" })";
constexpr char kDns[] = "outbound_udp|53||dns.shop.svc.cluster.local";

class UdpListenersTest : public GatewayFixture {
 protected:
  UdpListenersTest() { dns_ = AddUdp("dns"); }

  std::shared_ptr<model::Service> AddUdp(std::string_view name) {
    auto service = AddService("shop", name, {53, 80});
    service->ports[0].protocol = model::Protocol::kUdp;
    service->ports[0].name = "dns";
    return service;
  }
  // As the Gateway API's conversion makes them.
  void PutConverted(std::string_view name, const std::string& text) {
    Put(config::Kind::kGateway, "a", name, mesh::Parse<istio::networking::v1alpha3::Gateway>(text), 0,
        {{std::string(config::kGatewaySemanticsAnnotation), std::string(config::kGatewaySemantics)}});
  }
  void PutRoute(const std::string& destinations, std::string_view name = "route", int age = 0) {
    PutVirtualService("a", name, StrCat(R"(hosts: "*" gateways: "a/gw" tcp { )", destinations, " }"), age,
                      {{std::string(config::kParentsAnnotation), "UDPRoute/r.a"}});
  }
  static std::string To(std::string_view name, int weight = 0, uint32_t port = 53) {
    return StrCat("route { destination { host: \"", name, ".shop.svc.cluster.local\" port { number: ", port,
                  " } } weight: ", weight, " } ");
  }
  static UdpProxyConfig Proxy(const Listener& listener) {
    EXPECT_EQ(listener.listener_filters_size(), 1);
    EXPECT_EQ(listener.listener_filters(0).name(), "envoy.filters.udp_listener.udp_proxy");
    return Unpack<UdpProxyConfig>(listener.listener_filters(0).typed_config());
  }
  static std::string ClusterOf(const ::xds::type::matcher::v3::Matcher::OnMatch& match) {
    return Unpack<Route>(match.action().typed_config()).cluster();
  }
  // "CLUSTER to REACH" for each share, in order, then the rest's cluster or "drop".
  std::vector<std::string> Shares() {
    std::vector<std::string> shares;
    const UdpProxyConfig proxy = Proxy(Listeners().at("udp_0.0.0.0_53"));
    for (const auto& one : proxy.matcher().matcher_list().matchers()) {
      const auto& custom = one.predicate().single_predicate().custom_match().typed_config();
      const auto fraction = Unpack<RuntimeFraction>(custom);
      const auto& percent = fraction.runtime_fraction().default_value();
      EXPECT_EQ(percent.denominator(), envoy::type::v3::FractionalPercent::MILLION);
      shares.push_back(StrCat(ClusterOf(one.on_match()), " to ", percent.numerator()));
    }
    shares.push_back(proxy.matcher().has_on_no_match() ? ClusterOf(proxy.matcher().on_no_match()) : "drop");
    return shares;
  }
  std::shared_ptr<model::Service> dns_;
};

TEST_F(UdpListenersTest, ARouteIsAListener) {
  PutConverted("gw", kUdp);
  PutVirtualService("a", "tcp", StrCat(R"(hosts: "*" gateways: "a/gw" tcp { )", To("dns"), " }"));
  EXPECT_THAT(Listeners(), IsEmpty()) << "without a UDPRoute no port is opened";
  PutRoute(To("dns"));
  const auto listeners = Listeners();
  ASSERT_THAT(listeners, ElementsAre(Key("udp_0.0.0.0_53")));
  const Listener& listener = listeners.at("udp_0.0.0.0_53");
  EXPECT_EQ(listener.address().socket_address().protocol(), SocketAddress::UDP);
  EXPECT_EQ(listener.address().socket_address().port_value(), 53u);
  EXPECT_TRUE(listener.has_udp_listener_config());
  EXPECT_THAT(listener.filter_chains(), IsEmpty());
  EXPECT_THAT(Shares(), ElementsAre(kDns));
}

TEST_F(UdpListenersTest, RoutesOfNamespacesThatAreNotAllowedDoNotCount) {
  PutConverted("gw", R"(servers { port { number: 53 protocol: "UDP" name: "default" } hosts: "b/*" })");
  PutRoute(To("dns"));
  EXPECT_THAT(Listeners(), IsEmpty());
}

TEST_F(UdpListenersTest, WeightsAreSharesOfSourcePorts) {
  AddUdp("other");
  AddUdp("third");
  PutConverted("gw", kUdp);
  PutRoute(To("dns", 7) + To("other", 2) + To("third", 1));
  EXPECT_THAT(Shares(), ElementsAre(StrCat(kDns, " to 700000"),
                                    "outbound_udp|53||other.shop.svc.cluster.local to 900000",
                                    "outbound_udp|53||third.shop.svc.cluster.local"));
}

TEST_F(UdpListenersTest, TheShareOfABackendThatIsNotThereIsDropped) {
  PutConverted("gw", kUdp);
  PutRoute(To("lost", 1) + To("dns", 2) + To("dns", 1, 80) + "route { destination { } weight: 4 }");
  EXPECT_THAT(Shares(), ElementsAre(StrCat(kDns, " to 250000"), "drop")) << "port 80 is of TCP";
  PutRoute(To("lost"));
  EXPECT_THAT(Shares(), ElementsAre("drop"));
}

TEST_F(UdpListenersTest, TheOldestRouteCounts) {
  AddUdp("other");
  PutConverted("gw", kUdp);
  PutRoute(To("other"), "a-young", 1);
  PutRoute(To("dns"), "old", 100);
  EXPECT_THAT(Shares(), ElementsAre(kDns));
}

TEST_F(UdpListenersTest, TcpMayHaveThePortToo) {
  PutConverted("gw", kUdp);
  PutConverted("tcp", R"(servers { port { number: 53 protocol: "TCP" name: "default" } hosts: "*" })");
  PutRoute(To("dns"));
  PutVirtualService("a", "tcp", StrCat(R"(hosts: "*" gateways: "a/tcp" tcp { )", To("dns", 0, 80), " }"));
  EXPECT_THAT(Listeners(), ElementsAre(Key("0.0.0.0_53"), Key("udp_0.0.0.0_53")));
}

TEST_F(UdpListenersTest, HashingByTheClientsAddressIsTheDestinationRules) {
  PutConverted("gw", kUdp);
  PutRoute(To("dns"));
  EXPECT_THAT(Proxy(Listeners().at("udp_0.0.0.0_53")).hash_policies(), IsEmpty());
  PutDestinationRule("shop", "dns", R"(host: "dns.shop.svc.cluster.local"
    traffic_policy { load_balancer { consistent_hash { use_source_ip: true } } })");
  EXPECT_TRUE(Proxy(Listeners().at("udp_0.0.0.0_53")).hash_policies(0).source_ip());
}

TEST_F(UdpListenersTest, UdpInAnIstioGatewayIsOfConnectionsAsInIstio) {
  PutGateway("a", "gw", kUdp);
  PutRoute(To("dns", 0, 80));
  EXPECT_THAT(Listeners(), ElementsAre(Key("0.0.0.0_53")));
}

}  // namespace
}  // namespace fairlead::gen::gateway
