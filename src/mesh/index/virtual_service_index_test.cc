#include <gmock/gmock.h>

#include "mesh/index/virtual_service_index_builder.h"
#include "mesh/index/virtual_service_names.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class VirtualServiceIndexTest : public MeshFixture {
 protected:
  VirtualServicePtr Only() {
    const SnapshotPtr snapshot = Build();
    EXPECT_THAT(snapshot->virtual_services->All(), SizeIs(1));
    return snapshot->virtual_services->All().front();
  }
};

TEST(QualifyGatewayTest, KnowsAllForms) {
  EXPECT_EQ(QualifyGateway("mesh", "n"), "mesh");
  EXPECT_EQ(QualifyGateway("gw", "n"), "n/gw");
  EXPECT_EQ(QualifyGateway("./gw", "n"), "n/gw");
  EXPECT_EQ(QualifyGateway("other/gw", "n"), "other/gw");
  EXPECT_EQ(QualifyGateway("gw.other", "n"), "other/gw");
  EXPECT_EQ(QualifyGateway("gw.other.svc.cluster.local", "n"), "other/gw");
}

TEST_F(VirtualServiceIndexTest, QualifiesEveryName) {
  PutVirtualService("n", "v", R"(
      hosts: "reviews" hosts: "*" hosts: "a.example.com"
      gateways: "gw" gateways: "mesh"
      http {
        match { gateways: "other" }
        route { destination { host: "reviews" } }
        mirror { host: "shadow" }
        mirrors { destination { host: "second" } }
      }
      tcp { match { gateways: "t" } route { destination { host: "db" port { number: 5432 } } } }
      tls { match { gateways: "x.y" sni_hosts: "s" } route { destination { host: "secure" } } })");
  const auto spec = Only()->spec;
  EXPECT_THAT(spec->hosts(), ElementsAre("reviews.n.svc.cluster.local", "*", "a.example.com"));
  EXPECT_THAT(spec->gateways(), ElementsAre("n/gw", "mesh"));
  EXPECT_THAT(spec->http(0).match(0).gateways(), ElementsAre("n/other"));
  EXPECT_EQ(spec->http(0).route(0).destination().host(), "reviews.n.svc.cluster.local");
  EXPECT_EQ(spec->http(0).mirror().host(), "shadow.n.svc.cluster.local");
  EXPECT_EQ(spec->http(0).mirrors(0).destination().host(), "second.n.svc.cluster.local");
  EXPECT_EQ(spec->tcp(0).route(0).destination().host(), "db.n.svc.cluster.local");
  EXPECT_THAT(spec->tls(0).match(0).gateways(), ElementsAre("y/x"));
  EXPECT_THAT(Only()->destinations, ElementsAre(RouteDestination{"db.n.svc.cluster.local", 5432, {}},
                                                RouteDestination{"reviews.n.svc.cluster.local", 0, {}},
                                                RouteDestination{"second.n.svc.cluster.local", 0, {}},
                                                RouteDestination{"secure.n.svc.cluster.local", 0, {}},
                                                RouteDestination{"shadow.n.svc.cluster.local", 0, {}}));
}

TEST_F(VirtualServiceIndexTest, GroupsByVisibilityThenAge) {
  PutVirtualService("a", "public-young", R"(hosts: "x.com")", 1);
  PutVirtualService("b", "public-old", R"(hosts: "x.com")", 2);
  PutVirtualService("b", "exported", R"(hosts: "x.com" export_to: "a" export_to: ".")");
  PutVirtualService("a", "own", R"(hosts: "x.com" export_to: ".")");
  PutVirtualService("a", "nowhere", R"(hosts: "x.com" export_to: "~")");
  PutVirtualService("a", "gateway-only", R"(hosts: "x.com" gateways: "gw")");
  const auto index = Build()->virtual_services;
  EXPECT_THAT(Names(index->VisibleIn("a", "mesh")),
              ElementsAre("a/own", "b/exported", "b/public-old", "a/public-young"));
  EXPECT_THAT(Names(index->VisibleIn("b", "mesh")),
              ElementsAre("b/exported", "b/public-old", "a/public-young"));
  EXPECT_THAT(Names(index->VisibleIn("c", "mesh")), ElementsAre("b/public-old", "a/public-young"));
  EXPECT_THAT(Names(index->VisibleIn("c", "a/gw")), ElementsAre("a/gateway-only"));
}

TEST_F(VirtualServiceIndexTest, FollowsTheMeshDefaultOfExportTo) {
  PutVirtualService("a", "v", R"(hosts: "x.com")");
  NewMeshConfig().add_default_virtual_service_export_to(".");
  SetSettings();
  const auto index = Build()->virtual_services;
  EXPECT_THAT(index->VisibleIn("a", "mesh"), SizeIs(1));
  EXPECT_THAT(index->VisibleIn("b", "mesh"), IsEmpty());
}

TEST_F(VirtualServiceIndexTest, UnchangedOnesKeepTheirPointers) {
  PutVirtualService("a", "kept", R"(hosts: "x")");
  PutVirtualService("a", "changed", R"(hosts: "y")");
  const auto before = Build()->virtual_services->All();
  PutVirtualService("a", "changed", R"(hosts: "z")");
  const auto after = Build()->virtual_services->All();
  EXPECT_NE(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
}

TEST_F(VirtualServiceIndexTest, PutsDelegateRoutesInThePlaceOfTheRoute) {
  PutVirtualService("root", "v", R"(
      hosts: "x.com"
      http { name: "first" }
      http { name: "r" match { uri { prefix: "/api" } headers { key: "a" value { exact: "1" } } }
             delegate { name: "d" namespace: "team" } timeout { seconds: 5 } }
      http { name: "last" })");
  PutVirtualService("team", "d", R"(
      http { name: "one" match { uri { prefix: "/api/one" } } route { destination { host: "svc" } }
             timeout { seconds: 1 } }
      http { route { destination { host: "svc2" } } }
      http { name: "conflict" match { uri { prefix: "/other" } } })");
  const VirtualServicePtr merged = Only();
  ASSERT_EQ(merged->spec->http_size(), 4);
  EXPECT_EQ(merged->spec->http(0).name(), "first");
  const auto& one = merged->spec->http(1);
  EXPECT_EQ(one.name(), "r-one");
  EXPECT_EQ(one.match(0).uri().prefix(), "/api/one");
  EXPECT_EQ(one.match(0).headers().at("a").exact(), "1");
  EXPECT_EQ(one.timeout().seconds(), 1);
  EXPECT_EQ(one.route(0).destination().host(), "svc.team.svc.cluster.local");
  const auto& two = merged->spec->http(2);
  EXPECT_EQ(two.name(), "r");
  EXPECT_EQ(two.match(0).uri().prefix(), "/api");
  EXPECT_EQ(two.timeout().seconds(), 5);
  EXPECT_EQ(merged->spec->http(3).name(), "last");
  ASSERT_THAT(builder_.diagnostics(), SizeIs(1));
  EXPECT_EQ(builder_.diagnostics()[0].code, "delegate-conflict");
  EXPECT_EQ(builder_.diagnostics()[0].path, "spec.http[1].delegate");
}

TEST_F(VirtualServiceIndexTest, DropsRoutesWithoutUsableDelegate) {
  PutVirtualService("root", "v", R"(
      hosts: "x.com"
      http { delegate { name: "missing" } }
      http { delegate { name: "private" namespace: "team" } }
      http { name: "kept" })");
  PutVirtualService("team", "private", R"(http { name: "p" } export_to: ".")");
  const VirtualServicePtr before = Only();
  ASSERT_EQ(before->spec->http_size(), 1);
  EXPECT_EQ(before->spec->http(0).name(), "kept");
  ASSERT_THAT(builder_.diagnostics(), SizeIs(2));
  EXPECT_EQ(builder_.diagnostics()[0].code, "missing-delegate");
  EXPECT_EQ(builder_.diagnostics()[1].code, "delegate-not-visible");

  PutVirtualService("root", "missing", R"(http { name: "found" })");
  const VirtualServicePtr after = Only();
  EXPECT_NE(after, before);
  ASSERT_EQ(after->spec->http_size(), 2);
  EXPECT_EQ(after->spec->http(0).name(), "found");
  EXPECT_THAT(builder_.diagnostics(), SizeIs(1));
}

TEST_F(VirtualServiceIndexTest, RoutesWithASourceNamespaceLeadThereOnly) {
  PutVirtualService("n", "v", R"(
      hosts: "x.com"
      http { match { source_namespace: "b" } match { source_namespace: "a" } match {}
             route { destination { host: "one.com" } } }
      http { route { destination { host: "two.com" port { number: 80 } } } })");
  EXPECT_THAT(Only()->destinations,
              ElementsAre(RouteDestination{"one.com", 0, {"a", "b"}}, RouteDestination{"two.com", 80, {}}));
}

TEST_F(VirtualServiceIndexTest, GatewayApiRoutesGoFirstInTheirNamespace) {
  PutVirtualService("a", "plain", R"(hosts: "x.com")", 5);
  PutVirtualService("a", "route", R"(hosts: "short" http { route { destination { host: "b" } } })", 1,
                    {{"internal.istio.io/route-semantics", "gateway"}});
  const auto index = Build()->virtual_services;
  EXPECT_THAT(Names(index->VisibleIn("a", "mesh")), ElementsAre("a/route", "a/plain"));
  EXPECT_THAT(Names(index->VisibleIn("b", "mesh")), ElementsAre("a/plain", "a/route"));
  EXPECT_EQ(index->All()[1]->spec->hosts(0), "short") << "its names are qualified already";
}

TEST_F(VirtualServiceIndexTest, AGatewayNamedTwiceLeavesNothingBehind) {
  PutVirtualService("a", "other", "hosts: 'x' gateways: 'g' gateways: 'h'");
  PutVirtualService("a", "twice", "hosts: 'x' gateways: 'g' gateways: 'g'");
  EXPECT_EQ(Build()->virtual_services->VisibleIn("b", "a/g").size(), 3u);
  PutVirtualService("a", "twice", "hosts: 'y' gateways: 'g' gateways: 'g'");
  EXPECT_EQ(Build()->virtual_services->VisibleIn("b", "a/g").size(), 3u);
  Remove(config::Kind::kVirtualService, "a", "twice");
  EXPECT_THAT(Names(Build()->virtual_services->VisibleIn("b", "a/g")), ElementsAre("a/other"));
}

}  // namespace
}  // namespace fairlead::mesh
