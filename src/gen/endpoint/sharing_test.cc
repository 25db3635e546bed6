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

using testing::IsEmpty;
using testing::SizeIs;

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
  void SetEndpoints(const std::string& service, const std::vector<std::string>& addresses) {
    auto all = std::make_shared<model::ServiceEndpoints>();
    all->shards.resize(1);
    for (const std::string& address : addresses) {
      model::Endpoint& endpoint = all->shards[0].endpoints.emplace_back();
      endpoint.addresses = {Interned(address)};
      endpoint.port_name = "http-80";
      endpoint.port = 8080;
      endpoint.workload = std::make_shared<model::Workload>();
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
  std::vector<cache::ResourcePtr> Part(const mesh::ProxyScopePtr& client, size_t part) {
    return generator_->GeneratePart({*snapshot_, *client, &names_, kNamesId}, part);
  }
  std::string Key(const mesh::ProxyScopePtr& client, size_t part) {
    return generator_->PartKey({*snapshot_, *client, &names_, kNamesId}, part).value_or("none");
  }
  // Both parts by name, which has to be what a new generator makes.
  std::map<std::string, cache::ResourcePtr> Ask(const mesh::ProxyScopePtr& client) {
    std::map<std::string, cache::ResourcePtr> made;
    for (size_t part : {0u, 1u}) {
      for (const auto& resource : Part(client, part)) made[resource->name.str()] = resource;
    }
    const auto fresh = NewEndpointGenerator();
    const auto expected = fresh->Generate({*snapshot_, *client, &names_});
    EXPECT_EQ(made.size(), expected.size());
    for (const auto& resource : expected) {
      const auto& ours = made[resource->name.str()];
      EXPECT_TRUE(ours != nullptr && ours->any == resource->any) << resource->name.str();
    }
    return made;
  }

  static constexpr uint64_t kNamesId = 7;
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
  EXPECT_NE(Key(Client("private"), 0), Key(Client("shop"), 0));
  EXPECT_EQ(Key(Client("shop", "r1"), 0), Key(Client("shop", "r2"), 0));
}

TEST_F(SharingTest, WhatDependsOnTheClientIsAPartOfItsOwn) {
  PutDestinationRule("shop", "b", R"(host: "b" traffic_policy { outlier_detection {}
    load_balancer { locality_lb_setting {} } })");
  snapshot_ = Build();
  const auto here = Client("shop", "r1"), there = Client("shop", "r2");
  Ask(here);
  Ask(there);
  EXPECT_THAT(Part(here, 0), SizeIs(2));
  EXPECT_THAT(Part(here, 1), SizeIs(1));
  EXPECT_EQ(Key(here, 0), Key(there, 0));
  EXPECT_NE(Key(here, 1), Key(there, 1));
  Remove(config::Kind::kDestinationRule, "shop", "b");
  snapshot_ = Build();
  Ask(Client("shop", "r1"));
  EXPECT_THAT(Part(Client("shop", "r1"), 1), IsEmpty());
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
