#include <gmock/gmock.h>

#include "mesh/index/service_index_builder.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ServiceIndexTest : public MeshFixture {};

TEST_F(ServiceIndexTest, OrdersByAgeThenNameThenNamespace) {
  AddService("b", "web", {80});
  AddService("a", "web", {80});
  AddService("a", "api", {80});
  AddExternal("z", "old.example.com", {443}, 10);
  EXPECT_THAT(Names(Build()->services->All()),
              ElementsAre("old.example.com/z:443", "api.a.svc.cluster.local/a:80",
                          "web.a.svc.cluster.local/a:80", "web.b.svc.cluster.local/b:80"));
}

TEST_F(ServiceIndexTest, ServicesOfOneHostAreInTheOrderOfTheirObjects) {
  for (const char* name : {"c", "a", "b"}) {
    auto service = std::make_shared<model::Service>(*AddExternal("z", "api.example.com", {80}));
    service->source = PutDestinationRule("z", name, "host: 'x'");
    service->ports[0].port = 80 + name[0] - 'a';
    ReplaceService(services_.back(), service);
  }
  EXPECT_THAT(Names(Build()->services->All()),
              ElementsAre("api.example.com/z:80", "api.example.com/z:81", "api.example.com/z:82"));
}

TEST_F(ServiceIndexTest, ShowsExportedServicesFirst) {
  AddService("a", "everywhere", {80});
  ExportTo(AddService("a", "private", {80}), {"a"});
  ExportTo(AddService("a", "friends", {80}), {"a", "b"});
  ExportTo(AddService("a", "nowhere", {80}), {});
  const SnapshotPtr snapshot = Build();
  EXPECT_THAT(Names(snapshot->services->VisibleIn("a")),
              ElementsAre("friends.a.svc.cluster.local/a:80", "private.a.svc.cluster.local/a:80",
                          "everywhere.a.svc.cluster.local/a:80"));
  EXPECT_THAT(Names(snapshot->services->VisibleIn("b")),
              ElementsAre("friends.a.svc.cluster.local/a:80", "everywhere.a.svc.cluster.local/a:80"));
  EXPECT_THAT(Names(snapshot->services->VisibleIn("c")), ElementsAre("everywhere.a.svc.cluster.local/a:80"));
  EXPECT_NE(snapshot->services->Find("nowhere.a.svc.cluster.local", "a"), nullptr);
}

TEST_F(ServiceIndexTest, KubernetesServiceBeatsOlderEntryOfOneNamespace) {
  AddExternal("a", "web.a.svc.cluster.local", {81}, 10);
  const auto kubernetes = AddService("a", "web", {80});
  const auto other = AddExternal("b", "web.a.svc.cluster.local", {82});
  const SnapshotPtr snapshot = Build();
  EXPECT_EQ(snapshot->services->Find("web.a.svc.cluster.local", "a"), kubernetes);
  EXPECT_THAT(snapshot->services->ByHost("web.a.svc.cluster.local"), ElementsAre(kubernetes, other));
  EXPECT_THAT(snapshot->services->ByHost("none"), IsEmpty());
}

TEST_F(ServiceIndexTest, FindsTheServicesThatSelectLabels) {
  AddService("a", "both", {80}, {{"app", "web"}, {"tier", "front"}});
  AddService("a", "app", {80}, {{"app", "web"}});
  AddService("a", "tier", {80}, {{"tier", "front"}});
  AddService("a", "other", {80}, {{"app", "db"}, {"tier", "front"}});
  AddService("a", "none", {80});
  AddService("b", "elsewhere", {80}, {{"app", "web"}});
  const auto index = Build()->services;
  EXPECT_THAT(Names(index->Namespace("a")->Selecting({{"app", "web"}, {"tier", "front"}, {"x", "y"}})),
              ElementsAre("app.a.svc.cluster.local/a:80", "both.a.svc.cluster.local/a:80",
                          "tier.a.svc.cluster.local/a:80"));
  EXPECT_THAT(Names(index->Namespace("a")->Selecting({{"app", "web"}})),
              ElementsAre("app.a.svc.cluster.local/a:80"));
  EXPECT_THAT(index->Namespace("a")->Selecting({}), IsEmpty());
}

TEST_F(ServiceIndexTest, OldestEntryOfOneHostWins) {
  AddExternal("a", "example.com", {80}, 1);
  const auto oldest = AddExternal("a", "example.com", {81}, 2);
  EXPECT_EQ(Build()->services->Find("example.com", "a"), oldest);
}

TEST_F(ServiceIndexTest, EndpointIndexSharesWhatDidNotChange) {
  const auto of = [](uint32_t weight) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->shards.resize(1);
    endpoints->shards[0].endpoints.resize(1);
    endpoints->shards[0].endpoints[0].weight = weight;
    endpoints->shards[0].endpoints[0].workload = std::make_shared<model::Workload>();
    return endpoints;
  };
  registry_.endpoints[{"a.example", "a"}] = of(1);
  registry_.endpoints[{"b.example", "b"}] = of(2);
  const SnapshotPtr before = Build();
  ASSERT_NE(before->endpoints->Find("a.example", "a"), nullptr);
  EXPECT_EQ(before->endpoints->Find("a.example", "b"), nullptr);

  registry_.endpoints[{"a.example", "a"}] = of(3);
  registry_.endpoints.Erase(model::ServiceKey("b.example", "b"));
  registry_.changes.endpoints = {{"a.example", "a"}, {"b.example", "b"}};
  const SnapshotPtr after = Build();
  EXPECT_EQ(after->endpoints->Find("a.example", "a")->shards[0].endpoints[0].weight, 3u);
  EXPECT_EQ(after->endpoints->Find("b.example", "b"), nullptr);
  EXPECT_EQ(before->endpoints->Find("a.example", "a")->shards[0].endpoints[0].weight, 1u);
  EXPECT_NE(before->endpoints->Find("b.example", "b"), nullptr);
  EXPECT_EQ(after->services, before->services);
  EXPECT_EQ(after->scopes, before->scopes);
}

}  // namespace
}  // namespace fairlead::mesh
