#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include "gen/gateway/gateway_fixture.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::gateway {
namespace {

using envoy::config::route::v3::VirtualHost;
using testing::ElementsAre;
using testing::IsEmpty;

// A route to a service of the namespace "a".
std::string To(const std::string& service, const std::string& match = "") {
  return StrCat("http { ", match, " route { destination { host: \"", service,
                ".a.svc.cluster.local\" port { number: 80 } } } } ");
}

class GatewayRoutesTest : public GatewayFixture {
 protected:
  GatewayRoutesTest() {
    PutGateway("a", "gw", R"(servers { port { number: 80 protocol: "HTTP" name: "http" } hosts: "*.com" })");
  }
  void PutRoutes(std::string_view ns, std::string_view name, const std::string& host,
                 const std::string& routes, int age = 0) {
    PutVirtualService(ns, name, StrCat("hosts: \"", host, "\" gateways: \"a/gw\" ", routes), age);
  }
  // "name: domains: clusters", for each virtual host.
  static std::vector<std::string> Texts(const RouteConfiguration& routes) {
    std::vector<std::string> texts;
    for (const VirtualHost& host : routes.virtual_hosts()) {
      std::string& text = texts.emplace_back(StrCat(Join(host.domains(), " "), ":"));
      for (const auto& route : host.routes()) {
        const std::string& cluster = route.route().cluster();
        StrAppend(&text, " ", cluster.substr(cluster.rfind('|') + 1, 1));
      }
    }
    return texts;
  }
};

TEST_F(GatewayRoutesTest, HostsWithoutVirtualServicesAnswer404) {
  const RouteConfiguration routes = Routes("http.80");
  ASSERT_EQ(routes.virtual_hosts_size(), 1);
  EXPECT_EQ(routes.virtual_hosts(0).name(), "blackhole:80");
  EXPECT_THAT(routes.virtual_hosts(0).domains(), ElementsAre("*"));
  EXPECT_THAT(routes.virtual_hosts(0).routes(), IsEmpty());
}

// Names with an address say nothing of their ports, so all of these are matched as one.
TEST_F(GatewayRoutesTest, EnvoyFiltersMatchByThePortsOfAllRoutesOfOneNumber) {
  const auto bound = [](int port, const std::string& address) {
    return StrCat("servers { port { number: ", port, R"( protocol: "HTTP" name: "http" } bind: ")", address,
                  R"(" hosts: "*.com" })");
  };
  PutGateway("a", "one", bound(81, "10.0.0.1"));
  PutGateway("a", "two", bound(82, "10.0.0.2"));
  istio::networking::v1alpha3::EnvoyFilter filter;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"configPatches": [{"applyTo": "ROUTE_CONFIGURATION",
                      "match": {"context": "GATEWAY", "routeConfiguration": {"portNumber": 82}},
                      "patch": {"operation": "MERGE", "value": {"mostSpecificHeaderMutationsWins": true}}}]})",
                  &filter)
                  .ok());
  Put(config::Kind::kEnvoyFilter, "istio-system", "filter", std::move(filter));
  EXPECT_TRUE(Routes("http.82.10.0.0.2").most_specific_header_mutations_wins());
  EXPECT_TRUE(Routes("http.81.10.0.0.1").most_specific_header_mutations_wins());
  EXPECT_FALSE(Routes("http.80").most_specific_header_mutations_wins());
}

TEST_F(GatewayRoutesTest, AnUnknownNameHasNoHosts) { EXPECT_EQ(Routes("http.81").virtual_hosts_size(), 0); }

TEST_F(GatewayRoutesTest, HostsAreWhatServerAndVirtualServiceShare) {
  PutRoutes("a", "one", "X.com", To("x"));
  PutRoutes("a", "two", "*", To("y"), 1);
  PutRoutes("a", "three", "z.org", To("z"));
  EXPECT_THAT(Texts(Routes("http.80")), ElementsAre("*.com: y", "x.com: x"));
}

TEST_F(GatewayRoutesTest, VirtualServicesOfOneHostAreMergedOldestFirst) {
  PutRoutes("a", "young", "x.com", To("y", "match { uri { prefix: \"/y\" } }"));
  PutRoutes("b", "old", "x.com", To("o"), 10);
  EXPECT_THAT(Texts(Routes("http.80")), ElementsAre("x.com: y o")) << "what takes every request comes last";
}

TEST_F(GatewayRoutesTest, HostsWithTheSameRoutesAreOne) {
  PutVirtualService("a", "vs", StrCat(R"(hosts: "b.com" hosts: "long.a.com" gateways: "a/gw" )", To("x")));
  const RouteConfiguration routes = Routes("http.80");
  EXPECT_THAT(Texts(routes), ElementsAre("long.a.com b.com: x"));
  EXPECT_EQ(routes.virtual_hosts(0).name(), "long.a.com:80");
}

TEST_F(GatewayRoutesTest, OnlyVirtualServicesThatItsNamespaceSeesCount) {
  PutVirtualService("a", "vs", StrCat(R"(hosts: "x.com" gateways: "a/gw" export_to: "." )", To("x")));
  EXPECT_EQ(Routes("http.80").virtual_hosts(0).name(), "blackhole:80");
}

TEST_F(GatewayRoutesTest, MatchesMayBeForOtherGatewaysOrPorts) {
  PutRoutes("a", "vs", "x.com",
            To("m", "match { gateways: \"mesh\" }") + To("p", "match { port: 81 }") +
                To("g", "match { gateways: \"a/gw\" uri { prefix: \"/g\" } }") + To("x"));
  EXPECT_THAT(Texts(Routes("http.80")), ElementsAre("x.com: g x"));
}

TEST_F(GatewayRoutesTest, RedirectToHttpsNeedsNoRoutes) {
  PutGateway("a", "gw", R"(servers { port { number: 80 protocol: "HTTP" } hosts: "x.com" hosts: "y.com"
                                     tls { https_redirect: true } })");
  PutRoutes("a", "vs", "x.com", To("x"));
  const RouteConfiguration routes = Routes("http.80");
  EXPECT_THAT(Texts(routes), ElementsAre("x.com: x", "y.com:"));
  for (const VirtualHost& host : routes.virtual_hosts()) EXPECT_EQ(host.require_tls(), VirtualHost::ALL);
}

TEST_F(GatewayRoutesTest, ServersOfOnePortEachHaveTheirGatewaysVirtualServices) {
  PutGateway("b", "gw", R"(servers { port { number: 80 protocol: "HTTP" } hosts: "*" })");
  PutRoutes("a", "vs", "x.org", To("x"));
  PutVirtualService("b", "vs", StrCat(R"(hosts: "x.org" gateways: "b/gw" )", To("y")));
  EXPECT_THAT(Texts(Routes("http.80")), ElementsAre("x.org: y"));
}

TEST_F(GatewayRoutesTest, ADestinationWithoutPortMeansTheOnlyOne) {
  AddService("a", "web", {8000});
  AddService("a", "two", {1, 2});
  PutRoutes("a", "vs", "x.com", R"(
    http { match { uri { prefix: "/2" } } route { destination { host: "two.a.svc.cluster.local" } } }
    http { route { destination { host: "web.a.svc.cluster.local" } } })");
  const RouteConfiguration routes = Routes("http.80");
  EXPECT_EQ(routes.virtual_hosts(0).routes(0).route().cluster(), "outbound|80||two.a.svc.cluster.local");
  EXPECT_EQ(routes.virtual_hosts(0).routes(1).route().cluster(), "outbound|8000||web.a.svc.cluster.local");
}

TEST_F(GatewayRoutesTest, AnotherVirtualServiceLeavesUnconcernedRoutesAlone) {
  PutGateway("a", "tls", R"(servers { port { number: 443 protocol: "HTTPS" name: "s" } hosts: "s.com"
                                      tls { mode: SIMPLE credential_name: "c" } })");
  PutVirtualService("a", "vs", StrCat(R"(hosts: "s.com" gateways: "a/tls" )", To("s")));
  const Names names = {"http.80", "https.443.s.tls.a"};
  const Resources before = Generate(*route_generator_, &names);
  PutRoutes("a", "new", "x.com", To("x"));
  const Resources after = Generate(*route_generator_, &names);
  EXPECT_NE(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
}

TEST_F(GatewayRoutesTest, SayWhichObjectsTheyAreMadeFrom) {
  PutRoutes("a", "one", "x.com", To("x"));
  PutRoutes("a", "elsewhere", "z.org", To("z"));
  const Names names{"http.80"};
  EXPECT_THAT(Generate(*route_generator_, &names).at(0)->origins,
              ElementsAre(OriginKey("Gateway", "a", "gw"), OriginKey("VirtualService", "a", "one")));
}

}  // namespace
}  // namespace fairlead::gen::gateway
