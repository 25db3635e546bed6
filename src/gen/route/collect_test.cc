#include "gen/route/collect.h"

#include <gmock/gmock.h>

#include "gen/route/test_objects.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CollectTest : public ::testing::Test {
 protected:
  CollectTest() {
    scope_.ns = "default";
    SetPolicy("mode: ALLOW_ANY");
    scope_.egress.emplace_back();
  }

  void SetPolicy(std::string_view text) {
    scope_.outbound_traffic_policy =
        std::make_shared<api::OutboundTrafficPolicy>(FromText<api::OutboundTrafficPolicy>(text));
  }
  model::ServicePtr AddService(std::string_view host, uint32_t port) {
    model::ServicePtr service = TestService(host, "10.0.0.1", port);
    scope_.egress.back().services.push_back(service);
    scope_.services_by_host[service->hostname.str()] = service;
    return service;
  }
  mesh::VirtualServicePtr AddVirtualService(std::string_view spec) {
    mesh::VirtualServicePtr added = TestVirtualService("v", spec);
    scope_.egress.back().virtual_services.push_back(added);
    return added;
  }
  mesh::DestinationRulePtr AddRule(const char* host, std::string_view spec) {
    mesh::DestinationRulePtr rule = TestDestinationRule(spec);
    scope_.destination_rules[host].push_back(rule);
    return rule;
  }
  Inputs Collect(const std::string& name) { return CollectInputs(scope_, client_, labels_, settings_, name); }

  mesh::SidecarScope scope_;
  ClientTraits client_;
  LabelMap labels_{{"app", "client"}};
  model::SettingsPtr settings_ = TestSettings();
};

constexpr char kHash[] = "traffic_policy { load_balancer { consistent_hash { use_source_ip: true } } }";

TEST_F(CollectTest, TakesThePortsServicesByNameAndNoOthers) {
  const auto b = AddService("b.com", 80), a = AddService("a.com", 80), c = AddService("c.com", 81);
  EXPECT_THAT(Collect("80").hosts->services, ElementsAre(a, b));
  EXPECT_THAT(Collect("81").hosts->services, ElementsAre(c));
  EXPECT_THAT(Collect("http_proxy").hosts->services, ElementsAre(a, b, c));
  EXPECT_THAT(Collect("82").hosts->services, IsEmpty());
}

TEST_F(CollectTest, TakesTheLaterOfTwoServicesOfOneHost) {
  AddService("a.com", 80);
  const auto later = AddService("A.com", 80);
  EXPECT_THAT(Collect("80").hosts->services, ElementsAre(later));
}

TEST_F(CollectTest, TakesVirtualServicesThatMeetAServiceAndOnPort80All) {
  AddService("a.com", 81);
  AddService("*.w.com", 81);
  const auto exact = AddVirtualService("hosts: 'A.com'"), wide = AddVirtualService("hosts: '*.com'"),
             under = AddVirtualService("hosts: 'x.w.com'"), other = AddVirtualService("hosts: 'b.com'");
  EXPECT_THAT(Collect("81").hosts->virtual_services, ElementsAre(exact, wide, under));
  EXPECT_THAT(Collect("80").hosts->virtual_services, ElementsAre(exact, wide, under, other));
}

TEST_F(CollectTest, TakesHashingRulesOfServicesAndDestinations) {
  AddService("a.com", 80);
  AddService("b.com", 81);
  AddService("c.com", 80);
  AddVirtualService("hosts: 'x.com' http { route { destination { host: 'b.com' } } }");
  const auto a = AddRule("a.com", kHash), b = AddRule("b.com", kHash);
  AddRule("c.com", "traffic_policy { load_balancer { simple: RANDOM } }");
  const auto rules = Collect("80").hosts->hash_rules;
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].second, a);
  EXPECT_EQ(rules[1].second, b);
}

TEST_F(CollectTest, LabelsAreInputsOnlyWhereAMatchAsksForThem) {
  AddVirtualService("hosts: 'x.com' http { match { uri { prefix: '/' } } }");
  EXPECT_THAT(Collect("80").hosts->client_labels, IsEmpty());
  EXPECT_FALSE(LabelsMatter(scope_));
  AddVirtualService("hosts: 'y.com' http { match { source_labels { key: 'app' value: 'client' } } }");
  EXPECT_EQ(Collect("80").hosts->client_labels, labels_);
  EXPECT_TRUE(LabelsMatter(scope_));
}

TEST_F(CollectTest, LabelsMatterToRulesForWorkloads) {
  AddRule("a.com", "workload_selector { match_labels { key: 'app' value: 'client' } }");
  EXPECT_TRUE(LabelsMatter(scope_));
}

TEST_F(CollectTest, SharingKeysTellApartWhatRoutesDependOn) {
  const std::string key = SharingKey(scope_, client_, {});
  EXPECT_EQ(SharingKey(scope_, client_, {}), key);
  EXPECT_NE(SharingKey(mesh::SidecarScope(), client_, {}), key);
  EXPECT_NE(SharingKey(scope_, client_, labels_), key);
  const auto differs = [&](auto change) {
    ClientTraits other = client_;
    change(other);
    return SharingKey(scope_, other, {}) != key;
  };
  EXPECT_TRUE(differs([](ClientTraits& c) { c.ns = "x"; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.metadata_ns = "x"; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.dns_domain = "x"; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.addresses.ipv6 = true; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.addresses.auto_allocated = true; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.include_attempt_count = false; }));
  EXPECT_TRUE(differs([](ClientTraits& c) { c.append_x_forwarded_host = true; }));
}

TEST_F(CollectTest, EqualMeshesGiveEqualInputs) {
  AddService("a.com", 80);
  EXPECT_EQ(Collect("80"), Collect("80"));
  EXPECT_EQ(absl::HashOf(Collect("80")), absl::HashOf(Collect("80")));
  const Inputs before = Collect("80");
  AddService("b.com", 81);
  EXPECT_EQ(Collect("80"), before);
  AddService("b.com", 80);
  EXPECT_NE(Collect("80"), before);
}

TEST_F(CollectTest, EgressListenersAreFoundByPortAndSocket) {
  const auto at_9000 = FromText<api::IstioEgressListener>("port { number: 9000 protocol: 'HTTP' }");
  const auto socket = FromText<api::IstioEgressListener>("port { protocol: 'HTTP' } bind: 'unix:///s'");
  const auto proxy = FromText<api::IstioEgressListener>("port { number: 3128 protocol: 'http_proxy' }");
  scope_.egress[0].spec = &at_9000;
  const auto a = AddService("a.com", 9000);
  scope_.egress.emplace_back().spec = &socket;
  const auto b = AddService("b.com", 80);
  scope_.egress.emplace_back().spec = &proxy;
  const auto c = AddService("c.com", 81);
  EXPECT_THAT(Collect("9000").hosts->services, ElementsAre(a));
  EXPECT_THAT(Collect("unix:///s").hosts->services, ElementsAre(b));
  EXPECT_THAT(Collect("3128").hosts->services, ElementsAre(c));
  EXPECT_EQ(Collect("3128").hosts->port, 0u);
  EXPECT_EQ(Collect("80").hosts, nullptr);
  EXPECT_EQ(Collect("unix:///t").hosts, nullptr);
}

TEST_F(CollectTest, TheCatchAllFollowsTheOutboundPolicy) {
  EXPECT_EQ(Collect("80").catch_all, (CatchAll{.mode = CatchAllMode::kPassthrough}));
  SetPolicy("mode: REGISTRY_ONLY");
  EXPECT_EQ(Collect("80").catch_all.mode, CatchAllMode::kBlackHole);
  SetPolicy("mode: 3");
  EXPECT_EQ(Collect("80").catch_all.mode, CatchAllMode::kDynamicDns);
  SetPolicy("mode: ALLOW_ANY egress_proxy { host: 'e.com' subset: 's' port { number: 8080 } }");
  EXPECT_EQ(Collect("80").catch_all.cluster, "outbound|8080|s|e.com");
}

}  // namespace
}  // namespace fairlead::gen::route
