#include "gen/route/collect.h"

#include <gmock/gmock.h>

#include "gen/route/test_objects.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CollectTest : public ::testing::Test, protected TestClient {
 protected:
  CollectTest() { SetPolicy("mode: ALLOW_ANY"); }

  void SetPolicy(std::string_view text) {
    imports->outbound_traffic_policy =
        std::make_shared<api::OutboundTrafficPolicy>(FromText<api::OutboundTrafficPolicy>(text));
  }
  model::ServicePtr AddService(std::string_view host, uint32_t port) {
    model::ServicePtr service = TestService(host, "10.0.0.1", port);
    TestClient::AddService(service);
    return service;
  }
  mesh::VirtualServicePtr AddVirtualService(std::string_view spec) {
    mesh::VirtualServicePtr added = TestVirtualService("v", spec);
    virtual_services.back().push_back(added);
    return added;
  }
  mesh::DestinationRulePtr AddRule(const char* host, std::string_view spec) {
    mesh::DestinationRulePtr rule = TestDestinationRule(spec);
    imports->destination_rules[host].push_back(rule);
    return rule;
  }
  Inputs Collect(const std::string& name) {
    const mesh::ProxyScope scope = Scope();
    mesh::View view({snapshot, &scope});
    Inputs inputs = CollectInputs(view, name);
    reads_ = view.Take();
    return inputs;
  }
  // The keys of the labels that the last collection asked for.
  std::vector<std::string> LabelsRead() const {
    std::vector<std::string> keys;
    for (const auto& read : reads_->of_client()) {
      if (read.question.part == mesh::kPartOf<mesh::questions::Label>)
        keys.push_back(read.question.key.a.str());
    }
    return keys;
  }

  mesh::ReadsPtr reads_;
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
  labels["version"] = "v1";
  AddVirtualService("hosts: 'x.com' http { match { uri { prefix: '/' } } }");
  EXPECT_THAT(Collect("80").hosts->client_labels, IsEmpty());
  EXPECT_THAT(LabelsRead(), IsEmpty());
  AddVirtualService("hosts: 'y.com' http { match { source_labels { key: 'app' value: 'client' } } }");
  EXPECT_EQ(Collect("80").hosts->client_labels, (LabelMap{{"app", "client"}}));
  EXPECT_THAT(LabelsRead(), ElementsAre("app"));
}

TEST_F(CollectTest, WhatIsReadOfTheClientIsNoted) {
  AddService("a.com", 80);
  const mesh::ProxyScope before = Scope();
  mesh::View view({snapshot, &before});
  CollectInputs(view, "80");
  const mesh::ReadsPtr reads = view.Take();
  EXPECT_TRUE(reads->Hold({snapshot, &before}));
  const auto holds = [&](auto change) {
    TestClient other;
    other.proxy = proxy;
    change(other);
    mesh::ProxyScope scope = other.Scope();
    scope.sidecar = before.sidecar;
    return reads->Hold({snapshot, &scope});
  };
  EXPECT_TRUE(holds([](TestClient& c) { c.labels["app"] = "another"; }));
  EXPECT_TRUE(holds([](TestClient& c) { c.proxy.metadata.node_name = "another"; }));
  EXPECT_FALSE(holds([](TestClient& c) { c.proxy.ns = "x"; }));
  EXPECT_FALSE(holds([](TestClient& c) { c.proxy.metadata.ns = "x"; }));
  EXPECT_FALSE(holds([](TestClient& c) { c.proxy.domain = "x"; }));
  EXPECT_FALSE(holds([](TestClient& c) { c.proxy.supports_ipv6 = true; }));
  EXPECT_FALSE(holds([](TestClient& c) { c.proxy.metadata.dns_capture = true; }));
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
  const auto for_proxies = FromText<api::IstioEgressListener>("port { number: 3128 protocol: 'http_proxy' }");
  imports->egress[0].spec = &at_9000;
  const auto a = AddService("a.com", 9000);
  imports->egress.emplace_back().spec = &socket;
  virtual_services.emplace_back();
  const auto b = AddService("b.com", 80);
  imports->egress.emplace_back().spec = &for_proxies;
  virtual_services.emplace_back();
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
