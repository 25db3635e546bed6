#include "gen/route/virtual_hosts.h"

#include <gmock/gmock.h>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/route/build.h"
#include "gen/route/expect_message.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::config::route::v3;
using ::testing::ElementsAre;

HostInputs InputsFor(uint32_t port) {
  HostInputs inputs;
  inputs.port = port;
  inputs.client.ns = "default";
  inputs.client.dns_domain = "default.svc.cluster.local";
  inputs.settings = TestSettings();
  return inputs;
}

// The virtual hosts as Envoy reads them, the catch-all left out.
std::vector<pb::VirtualHost> HostsOf(const HostInputs& inputs) {
  Inputs whole;
  whole.name = StrCat(inputs.port);
  whole.hosts = std::make_shared<HostInputs>(inputs);
  pb::RouteConfiguration message;
  const std::string bytes = BuildOutboundRouteConfiguration(whole, BuildVirtualHosts(inputs));
  EXPECT_TRUE(message.ParseFromString(bytes));
  EXPECT_GT(message.virtual_hosts_size(), 0);
  EXPECT_EQ(message.SerializeAsString(), bytes);  // the fields in the order that protobuf has them in
  return {message.virtual_hosts().begin(), message.virtual_hosts().end() - 1};
}

std::vector<std::string> Names(const std::vector<pb::VirtualHost>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const pb::VirtualHost& host : hosts) names.push_back(host.name());
  return names;
}

std::vector<std::string> Domains(const pb::VirtualHost& host) {
  return {host.domains().begin(), host.domains().end()};
}

TEST(BuildVirtualHosts, GivesEveryServiceItsDefaultRoute) {
  HostInputs inputs = InputsFor(80);
  inputs.services = {TestService("reviews.default.svc.cluster.local", "10.0.0.1")};
  const auto hosts = HostsOf(inputs);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].name(), "reviews.default.svc.cluster.local:80");
  EXPECT_THAT(Domains(hosts[0]),
              ElementsAre("reviews.default.svc.cluster.local", "reviews.default.svc.cluster.local.",
                          "reviews", "reviews.default.svc", "reviews.default", "10.0.0.1"));
  EXPECT_TRUE(hosts[0].include_request_attempt_count());
  ASSERT_EQ(hosts[0].routes_size(), 1);
  EXPECT_EQ(hosts[0].routes(0).name(), "default");
  EXPECT_EQ(hosts[0].routes(0).route().cluster(), "outbound|80||reviews.default.svc.cluster.local");
  EXPECT_EQ(hosts[0].routes(0).decorator().operation(), "reviews.default.svc.cluster.local:80/*");
}

TEST(BuildVirtualHosts, LeavesOutPortsWithoutHttpAndAliases) {
  HostInputs inputs = InputsFor(80);
  auto tcp = TestService("tcp.default.svc.cluster.local", "10.0.0.1");
  tcp->ports[0].protocol = model::Protocol::kTcp;
  auto alias = TestService("alias.default.svc.cluster.local", "");
  alias->resolution = model::Resolution::kAlias;
  auto sniffed = TestService("sniffed.default.svc.cluster.local", "10.0.0.2");
  sniffed->ports[0].protocol = model::Protocol::kUnsupported;
  inputs.services = {tcp, alias, sniffed, TestService("other.default.svc.cluster.local", "10.0.0.3", 81)};
  EXPECT_THAT(Names(HostsOf(inputs)), ElementsAre("sniffed.default.svc.cluster.local:80"));
}

TEST(BuildVirtualHosts, AVirtualServiceTakesItsServicesAndNamesOthersOnPort80) {
  HostInputs inputs = InputsFor(80);
  inputs.services = {TestService("a.default.svc.cluster.local", "10.0.0.1"),
                     TestService("b.default.svc.cluster.local", "10.0.0.2")};
  inputs.virtual_services = {
      TestVirtualService("v",
                         "hosts: 'a.default.svc.cluster.local' hosts: 'Book.com' http { name: 'mine' route { "
                         "destination { host: 'b.default.svc.cluster.local' } } }")};
  const auto hosts = HostsOf(inputs);
  EXPECT_THAT(Names(hosts),
              ElementsAre("a.default.svc.cluster.local:80", "b.default.svc.cluster.local:80", "book.com:80"));
  EXPECT_EQ(hosts[0].routes(0).name(), "mine");
  EXPECT_EQ(hosts[1].routes(0).name(), "default");
  EXPECT_THAT(Domains(hosts[2]), ElementsAre("book.com"));
  EXPECT_EQ(hosts[2].routes(0).route().cluster(), "outbound|80||b.default.svc.cluster.local");
}

TEST(BuildVirtualHosts, OtherPortsHaveNoHostsOutsideTheMesh) {
  HostInputs inputs = InputsFor(81);
  inputs.virtual_services = {
      TestVirtualService("v", "hosts: 'book.com' http { route { destination { host: 'x' } } }")};
  EXPECT_TRUE(HostsOf(inputs).empty());
}

TEST(BuildVirtualHosts, AnHttpRouteNamesNoHostsOutsideTheMesh) {
  HostInputs inputs = InputsFor(80);
  const char* spec = "hosts: 'api.default.svc.cluster.local' http { route { destination { host: 'web' } } }";
  inputs.virtual_services = {
      TestVirtualService("r", spec, {{"internal.istio.io/route-semantics", "gateway"}})};
  EXPECT_THAT(HostsOf(inputs), ElementsAre());
  inputs.virtual_services = {TestVirtualService("r", spec)};
  EXPECT_THAT(Names(HostsOf(inputs)), ElementsAre("api.default.svc.cluster.local:80"));
}

TEST(BuildVirtualHosts, TheOlderVirtualServiceWinsAHost) {
  HostInputs inputs = InputsFor(80);
  inputs.services = {TestService("a.com", "10.0.0.1")};
  inputs.virtual_services = {
      TestVirtualService("old",
                         "hosts: 'a.com' http { name: 'old' route { destination { host: 'a.com' } } }"),
      TestVirtualService("new",
                         "hosts: 'a.com' http { name: 'new' route { destination { host: 'a.com' } } }")};
  const auto hosts = HostsOf(inputs);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].routes(0).name(), "old");
}

TEST(BuildVirtualHosts, TheMostSpecificWildcardTakesAService) {
  HostInputs inputs = InputsFor(80);
  inputs.services = {TestService("x.a.com", "10.0.0.1"), TestService("y.com", "10.0.0.2")};
  inputs.virtual_services = {
      TestVirtualService("wide", "hosts: '*.com' http { name: 'wide' route { destination { host: 'w' } } }"),
      TestVirtualService("narrow",
                         "hosts: '*.a.com' http { name: 'narrow' route { destination { host: 'n' } } }"),
      TestVirtualService("none", "hosts: '*.net' http { name: 'none' route { destination { host: 'n' } } }")};
  const auto hosts = HostsOf(inputs);
  EXPECT_THAT(Names(hosts), ElementsAre("*.net:80", "x.a.com:80", "y.com:80"));
  EXPECT_EQ(hosts[1].routes(0).name(), "narrow");
  EXPECT_EQ(hosts[2].routes(0).name(), "wide");
}

TEST(BuildVirtualHosts, DestinationsFindTheirPortAndAlias) {
  HostInputs inputs = InputsFor(80);
  auto alias = TestService("alias.default.svc.cluster.local", "", 80);
  alias->external_name = "real.default.svc.cluster.local";
  alias->resolution = model::Resolution::kAlias;
  inputs.services = {alias};
  inputs.virtual_services = {TestVirtualService(
      "v",
      "hosts: 'x.com' http { match { uri { prefix: '/1' } } route { destination { host: "
      "'alias.default.svc.cluster.local' subset: 's' } } } http { match { uri { prefix: '/2' } } route { "
      "destination { host: 'elsewhere' port { number: 9 } } } } http { route { destination {} } }")};
  const auto hosts = HostsOf(inputs);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].routes(0).route().cluster(), "outbound|80|s|real.default.svc.cluster.local");
  EXPECT_EQ(hosts[0].routes(1).route().cluster(), "outbound|9||elsewhere");
  EXPECT_EQ(hosts[0].routes(2).route().cluster(), "UnknownService");
}

TEST(BuildVirtualHosts, ServicesHashAsTheirRulesSay) {
  HostInputs inputs = InputsFor(80);
  inputs.services = {TestService("a.com", "10.0.0.1")};
  inputs.hash_rules = {
      {"a.com",
       TestDestinationRule("traffic_policy { load_balancer { consistent_hash { use_source_ip: true } } }")}};
  const auto hosts = HostsOf(inputs);
  EXPECT_EQ(hosts[0].routes(0).route().hash_policy_size(), 1);
  EXPECT_EQ(hosts[0].routes(0).route().retry_policy().retry_host_predicate_size(), 1);
}

TEST(BuildVirtualHosts, ProxyClientsNamePortsBut80) {
  HostInputs inputs = InputsFor(0);
  auto service = TestService("a.com", "10.0.0.1");
  service->ports.push_back({"more", 8080, model::Protocol::kHttp, 8080, "", 0});
  inputs.services = {service};
  const auto hosts = HostsOf(inputs);
  EXPECT_THAT(Names(hosts), ElementsAre("a.com:80", "a.com:8080"));
  EXPECT_THAT(Domains(hosts[0]),
              ElementsAre("a.com", "a.com:80", "a.com.", "a.com.:80", "10.0.0.1", "10.0.0.1:80"));
  EXPECT_THAT(Domains(hosts[1]), ElementsAre("a.com:8080", "a.com.:8080", "10.0.0.1:8080"));
}

pb::RouteConfiguration Parse(const std::string& bytes) {
  pb::RouteConfiguration message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

TEST(BuildOutboundRouteConfiguration, EndsWithTheCatchAll) {
  Inputs inputs;
  inputs.name = "80";
  inputs.catch_all.mode = CatchAllMode::kBlackHole;
  const auto out = Parse(BuildOutboundRouteConfiguration(inputs, {}));
  ExpectMessage(out,
                "name: '80' validate_clusters {} max_direct_response_body_size_bytes { value: 1048576 } "
                "ignore_port_in_host_matching: true virtual_hosts { name: 'block_all' domains: '*' "
                "include_request_attempt_count: true routes { name: 'block_all' match { prefix: '/' } "
                "direct_response { status: 502 } } }");
}

TEST(BuildOutboundRouteConfiguration, OfASniffedListenerIsItsHostAlone) {
  HostInputs host_inputs = InputsFor(7000);
  host_inputs.services = {TestService("a.com", "10.0.0.1", 7000), TestService("b.com", "10.0.0.2", 7000)};
  Inputs inputs;
  inputs.name = "b.com:7000";
  inputs.hosts = std::make_shared<HostInputs>(host_inputs);
  const auto out = Parse(BuildOutboundRouteConfiguration(inputs, BuildVirtualHosts(host_inputs)));
  ASSERT_EQ(out.virtual_hosts_size(), 1);
  EXPECT_EQ(out.virtual_hosts(0).name(), "b.com:7000");
  EXPECT_THAT(Domains(out.virtual_hosts(0)), ElementsAre("*"));
}

TEST(BuildUnknownRouteConfiguration, HasNoHosts) {
  ExpectMessage(Parse(BuildUnknownRouteConfiguration("x")), "name: 'x' validate_clusters {}");
}

}  // namespace
}  // namespace fairlead::gen::route
