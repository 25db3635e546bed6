#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gen/generator.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "mesh/mesh_fixture.h"

// What the generator shares between clients, and keeps when something changes, is what it would make anew.
namespace fairlead::gen {
namespace {

std::string ClusterOf(std::string_view service) {
  return StrCat("outbound|80||", service, ".shop.svc.cluster.local");
}

class SharingTest : public mesh::MeshFixture {
 protected:
  SharingTest() {
    for (const char* name : {"a", "b", "c"}) {
      AddService("shop", name, {80});
      SetEndpoints(name, {"10.0.0.1"});
      names_.push_back(ClusterOf(name));
    }
  }
  void SetEndpoints(const std::string& service, const std::vector<std::string>& addresses,
                    const char* tls_mode = "") {
    auto all = std::make_shared<model::ServiceEndpoints>();
    all->shards.resize(1);
    for (const std::string& address : addresses) {
      model::Endpoint& endpoint = all->shards[0].endpoints.emplace_back();
      endpoint.addresses = {Interned(address)};
      endpoint.port_name = "http-80";
      endpoint.port = 8080;
      auto workload = std::make_shared<model::Workload>();
      workload->tls_mode = tls_mode;
      endpoint.workload = std::move(workload);
    }
    const model::ServiceKey key = {Interned(StrCat(service, ".shop.svc.cluster.local")), Interned("shop")};
    registry_.endpoints[key] = std::move(all);
    registry_.changes.endpoints.push_back(key);
  }
  mesh::ProxyScopePtr Client(const std::string& ns, const std::string& region = "") {
    auto proxy = std::const_pointer_cast<model::Proxy>(MakeProxy(ns, StrCat("client-", region), "10.9.9.9"));
    proxy->node_locality = model::Locality::Parse(region);
    return mesh::ComputeProxyScope(*snapshot_, proxy);
  }
  // The assignments by name, which have to be what a new generator makes.
  std::map<std::string, cache::ResourcePtr> Ask(const mesh::ProxyScopePtr& client) {
    std::map<std::string, cache::ResourcePtr> made;
    for (const auto& resource : GenerateFor(*generator_, *snapshot_, *client, &names_))
      made[resource->name.str()] = resource;
    const auto fresh = NewEndpointGenerator();
    const auto expected = GenerateFor(*fresh, *snapshot_, *client, &names_);
    EXPECT_EQ(made.size(), expected.size());
    for (const auto& resource : expected) {
      const auto& ours = made[resource->name.str()];
      EXPECT_TRUE(ours != nullptr && ours->any == resource->any) << resource->name.str();
    }
    return made;
  }

  std::vector<std::string> names_;  // sorted
  std::unique_ptr<Generator> generator_ = NewEndpointGenerator();
  mesh::SnapshotPtr snapshot_;
};

TEST_F(SharingTest, AChangeOfEndpointsMakesThoseOfItsServiceAnew) {
  snapshot_ = Build();
  const auto before = Ask(Client("shop"));
  SetEndpoints("b", {"10.0.0.2", "10.0.0.3"});
  snapshot_ = Build();
  const auto after = Ask(Client("shop"));
  EXPECT_EQ(after.at(ClusterOf("a")), before.at(ClusterOf("a")));
  EXPECT_NE(after.at(ClusterOf("b")), before.at(ClusterOf("b")));
  EXPECT_EQ(after.at(ClusterOf("c")), before.at(ClusterOf("c")));
}

TEST_F(SharingTest, AServiceThatComesOrGoesLeavesTheOthersAsTheyAre) {
  snapshot_ = Build();
  const auto before = Ask(Client("shop"));
  const model::ServicePtr added = AddService("shop", "d", {80});
  snapshot_ = Build();
  EXPECT_EQ(Ask(Client("shop")), before);
  RemoveService(added);
  snapshot_ = Build();
  EXPECT_EQ(Ask(Client("shop")), before);
}

TEST_F(SharingTest, WhatNobodyHasAnyMoreIsForgotten) {
  snapshot_ = Build();
  Ask(Client("shop"));
  const std::weak_ptr<const model::ServiceEndpoints> before =
      snapshot_->endpoints->Find(Interned("b.shop.svc.cluster.local"), Interned("shop"));
  ASSERT_FALSE(before.expired());
  SetEndpoints("b", {"10.0.0.2"});
  snapshot_ = Build();
  Ask(Client("shop"));
  const Clock::time_point now = Clock::now();
  for (int i = 0; i < 4; ++i) generator_->Sweep(now + i * std::chrono::minutes(1));
  EXPECT_TRUE(before.expired());
}

TEST_F(SharingTest, WithoutEndpointsAndWithThemAgain) {
  snapshot_ = Build();
  Ask(Client("shop"));
  for (const std::vector<std::string>& addresses :
       {std::vector<std::string>(), std::vector<std::string>{"10.0.0.2"}}) {
    SetEndpoints("b", addresses);
    if (addresses.empty()) registry_.endpoints.Erase(registry_.changes.endpoints.front());
    snapshot_ = Build();
    Ask(Client("shop"));
    Ask(Client("other"));
  }
}

TEST_F(SharingTest, AnOlderSnapshotIsStillAnsweredAsItWas) {
  snapshot_ = Build();
  const mesh::SnapshotPtr old = snapshot_;
  const auto before = Ask(Client("shop"));
  SetEndpoints("b", {"10.0.0.2"});
  snapshot_ = Build();
  Ask(Client("shop"));
  snapshot_ = old;
  EXPECT_EQ(Ask(Client("shop")).at(ClusterOf("b"))->any, before.at(ClusterOf("b"))->any);
}

TEST_F(SharingTest, NamespacesShareWhatIsTheSameForThem) {
  PutDestinationRule("private", "a",
                     "host: 'a.shop.svc.cluster.local' export_to: '.' traffic_policy { port_level_settings { "
                     "port { number: 80 } tls { mode: DISABLE } } }");
  snapshot_ = Build();
  const auto shop = Ask(Client("shop")), other = Ask(Client("other")), own = Ask(Client("private"));
  EXPECT_EQ(other, shop);
  EXPECT_EQ(own.at(ClusterOf("b")), shop.at(ClusterOf("b")));
}

TEST_F(SharingTest, WhatDependsOnTheClientIsSharedByThoseThatAreAlike) {
  PutDestinationRule("shop", "b", R"(host: "b" traffic_policy { outlier_detection {}
    load_balancer { locality_lb_setting {} } })");
  snapshot_ = Build();
  const auto here = Ask(Client("shop", "r1")), there = Ask(Client("shop", "r2"));
  EXPECT_EQ(here.at(ClusterOf("a")), there.at(ClusterOf("a")));
  EXPECT_NE(here.at(ClusterOf("b")), there.at(ClusterOf("b")));
  EXPECT_EQ(Ask(Client("shop", "r1")), here);
}

// A rule for some workloads of a namespace hides the service's own from the others, and what one of them
// asked for first must not reach another.
TEST_F(SharingTest, RulesForWorkloadsAreFollowedInAnyOrderOfAsking) {
  const auto rule = [&](const char* name, const char* app, const char* mode) {
    PutDestinationRule(
        "priv", name,
        StrCat("host: 'a.shop.svc.cluster.local' workload_selector { match_labels { key: 'app' value: '",
               std::string_view(app), "' } } traffic_policy { tls { mode: ", std::string_view(mode), " } }"));
  };
  rule("one", "one", "DISABLE");
  rule("two", "two", "ISTIO_MUTUAL");
  SetEndpoints("a", {"10.0.0.1"}, "istio");
  snapshot_ = Build();
  const auto client = [&](const char* app) {
    auto proxy = std::const_pointer_cast<model::Proxy>(MakeProxy("priv", app, "10.9.9.9"));
    proxy->metadata.labels = {{"app", app}};
    return mesh::ComputeProxyScope(*snapshot_, proxy);
  };
  for (const auto& order : {std::vector<const char*>{"one", "two"}, std::vector<const char*>{"two", "one"}}) {
    generator_ = NewEndpointGenerator();
    Ask(Client("other"));
    for (const char* app : order) Ask(client(app));
    for (const char* app : order) Ask(client(app));
  }
}

TEST_F(SharingTest, AServiceThatChangesIsMadeAnew) {
  snapshot_ = Build();
  Ask(Client("shop"));
  const model::ServicePtr old = services_.front();
  auto replaced = std::make_shared<model::Service>(*old);
  replaced->ports[0].port = 81;
  ReplaceService(old, replaced);
  snapshot_ = Build();
  Ask(Client("shop"));
}

}  // namespace
}  // namespace fairlead::gen
