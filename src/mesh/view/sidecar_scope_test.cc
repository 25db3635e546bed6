#include "mesh/view/sidecar_scope.h"

#include <gmock/gmock.h>

#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using istio::networking::v1alpha3::OutboundTrafficPolicy;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class SidecarScopeTest : public MeshFixture {
 protected:
  SidecarScopePtr Scope(std::string_view ns, const LabelMap& labels = {}) {
    return ScopeFor(*Build(), ns, labels);
  }
  // What a Sidecar of namespace "a" with these egress hosts imports.
  std::vector<std::string> Imported(const std::string& hosts) {
    PutSidecar("a", "s", "egress { " + hosts + " }");
    return Names(Scope("a")->imports->services);
  }
};

constexpr char kWebA[] = "web.a.svc.cluster.local/a:80";
constexpr char kWebB[] = "web.b.svc.cluster.local/b:80";
constexpr char kApiB[] = "api.b.svc.cluster.local/b:80";

class EgressHostsTest : public SidecarScopeTest {
 protected:
  void SetUp() override {
    AddService("b", "api", {80});
    AddService("a", "web", {80});
    AddService("b", "web", {80});
    AddExternal("c", "*.wild.com", {443});
  }
};

TEST_F(EgressHostsTest, ImportsWhatTheHostsName) {
  const std::string wild = "*.wild.com/c:443";
  EXPECT_THAT(Imported("hosts: '*/*'"), ElementsAre(wild, kApiB, kWebA, kWebB));
  EXPECT_THAT(Imported("hosts: './*'"), ElementsAre(kWebA));
  EXPECT_THAT(Imported("hosts: 'b/*'"), ElementsAre(kApiB, kWebB));
  EXPECT_THAT(Imported("hosts: 'b/api.b.svc.cluster.local'"), ElementsAre(kApiB));
  EXPECT_THAT(Imported("hosts: 'a/api.b.svc.cluster.local'"), IsEmpty());
  EXPECT_THAT(Imported("hosts: '*/web.b.svc.cluster.local'"), ElementsAre(kWebB));
  EXPECT_THAT(Imported("hosts: '*/*.b.svc.cluster.local'"), ElementsAre(kApiB, kWebB));
  EXPECT_THAT(Imported("hosts: 'c/*.wild.com'"), ElementsAre(wild));
  EXPECT_THAT(Imported("hosts: 'c/sub.wild.com'"), IsEmpty());
  EXPECT_THAT(Imported("hosts: 'c/*.com'"), ElementsAre(wild));
  EXPECT_THAT(Imported("hosts: '~/*'"), IsEmpty());
  EXPECT_THAT(Imported("hosts: 'malformed' hosts: 'a/b/c' hosts: './*'"), ElementsAre(kWebA));
}

TEST_F(EgressHostsTest, ExcludesWhatATildeNames) {
  EXPECT_THAT(Imported("hosts: '*/*' hosts: '~b/*' hosts: '~/*.wild.com'"), ElementsAre(kWebA));
  EXPECT_THAT(Imported("hosts: 'b/*' hosts: '~*/web.b.svc.cluster.local'"), ElementsAre(kApiB));
}

TEST_F(EgressHostsTest, ExactHostsRespectExportTo) {
  ExportTo(AddService("b", "private", {80}), {"b"});
  EXPECT_THAT(Imported("hosts: 'b/private.b.svc.cluster.local' hosts: 'b/api.b.svc.cluster.local'"),
              ElementsAre(kApiB));
}

TEST_F(SidecarScopeTest, ChoosesTheSidecar) {
  PutSidecar("istio-system", "root", "egress { hosts: './*' }", 5);
  PutSidecar("istio-system", "root-selected", "workload_selector { labels { key: 'app' value: 'x' } }", 9);
  EXPECT_EQ(Scope("a")->imports->object->name(), "root");
  EXPECT_EQ(Scope("a")->imports->ns, "a");
  EXPECT_EQ(Scope("istio-system", {{"app", "x"}})->imports->object->name(), "root-selected");
  PutSidecar("a", "selected", "workload_selector { labels { key: 'app' value: 'x' } }", 1);
  EXPECT_EQ(Scope("a")->imports->object->name(), "root") << "nothing in the namespace selects it";
  PutSidecar("a", "young", "", 1);
  PutSidecar("a", "old", "", 2);
  EXPECT_EQ(Scope("a")->imports->object->name(), "old");
  EXPECT_EQ(Scope("a", {{"app", "x"}})->imports->object->name(), "selected");
  ASSERT_THAT(builder_.diagnostics(), SizeIs(1));
  EXPECT_EQ(builder_.diagnostics()[0].object->name, "young");
  EXPECT_EQ(builder_.diagnostics()[0].code, "duplicate-sidecar");
}

TEST_F(SidecarScopeTest, DefaultScopeHasOneListenerForEverything) {
  const auto own = AddService("a", "web", {80});
  const SidecarScopePtr scope = Scope("a");
  EXPECT_EQ(scope->imports->object, nullptr);
  ASSERT_THAT(scope->imports->egress, SizeIs(1));
  EXPECT_EQ(scope->imports->egress[0].spec, nullptr);
  EXPECT_THAT(scope->imports->egress[0].services, ElementsAre(own));
  EXPECT_EQ(scope->imports->FindService("web.a.svc.cluster.local"), own);
  EXPECT_EQ(scope->imports->FindService("none"), nullptr);
  EXPECT_EQ(scope->imports->outbound_traffic_policy->mode(), OutboundTrafficPolicy::ALLOW_ANY);
}

TEST_F(SidecarScopeTest, OutboundTrafficPolicyOfTheSidecarReplacesTheMeshs) {
  PutSidecar("a", "s", "outbound_traffic_policy {}");
  EXPECT_EQ(Scope("a")->imports->outbound_traffic_policy->mode(), OutboundTrafficPolicy::REGISTRY_ONLY);
  PutSidecar("a", "s", "");
  EXPECT_EQ(Scope("a")->imports->outbound_traffic_policy->mode(), OutboundTrafficPolicy::ALLOW_ANY);
}

TEST_F(SidecarScopeTest, ListenersWithPortsCutServicesDown) {
  AddService("b", "both", {80, 90});
  AddService("b", "other", {70});
  PutSidecar("a", "s", R"(
      egress { port { number: 90 protocol: "HTTP" name: "x" } hosts: "*/*" }
      egress { port { number: 3128 protocol: "HTTP_PROXY" name: "p" } hosts: "b/other.b.svc.cluster.local" }
      egress { port { number: 80 protocol: "HTTP" name: "y" } hosts: "*/*" })");
  const SidecarScopePtr scope = Scope("a");
  ASSERT_THAT(scope->imports->egress, SizeIs(3));
  EXPECT_THAT(Names(scope->imports->egress[0].services), ElementsAre("both.b.svc.cluster.local/b:90"));
  EXPECT_THAT(Names(scope->imports->egress[1].services), ElementsAre("other.b.svc.cluster.local/b:70"));
  EXPECT_THAT(Names(scope->imports->egress[2].services), ElementsAre("both.b.svc.cluster.local/b:80"));
  EXPECT_THAT(Names(scope->imports->services),
              ElementsAre("both.b.svc.cluster.local/b:90:80", "other.b.svc.cluster.local/b:70"))
      << "the parts of one service are put together";
  EXPECT_EQ(scope->imports->FindService("both.b.svc.cluster.local")->ports.size(), 2u);
}

TEST_F(SidecarScopeTest, CutDownServicesKeepTheirPointersOverScopesAndSnapshots) {
  AddService("b", "both", {80, 90});
  const std::string egress = R"(egress { port { number: 90 protocol: "HTTP" name: "x" } hosts: "*/*" })";
  PutSidecar("istio-system", "s", egress);
  const auto first = Scope("a")->imports->services;
  EXPECT_EQ(Scope("c")->imports->services, first);
  PutVirtualService("x", "v", "hosts: 'unrelated.com'");
  EXPECT_EQ(Scope("d")->imports->services, first);
}

TEST_F(SidecarScopeTest, OneNamespaceServesAHostname) {
  const auto first = AddExternal("b", "x.com", {80}, 2);
  AddExternal("c", "x.com", {81}, 1);
  EXPECT_THAT(Names(Scope("other")->imports->services), ElementsAre("x.com/b:80")) << "the first in order";
  EXPECT_THAT(Names(Scope("c")->imports->services), ElementsAre("x.com/c:81")) << "the own namespace's";
  auto kubernetes = std::make_shared<model::Service>(*first);
  kubernetes->registry = model::Registry::kKubernetes;
  kubernetes->ns = "d";
  kubernetes->creation_time += 10;
  AddMadeService(kubernetes);
  EXPECT_THAT(Names(Scope("other")->imports->services), ElementsAre("x.com/d:80"))
      << "Kubernetes' goes before entries";
  EXPECT_THAT(Names(Scope("c")->imports->services), ElementsAre("x.com/c:81"));
}

TEST_F(SidecarScopeTest, EntriesOfOneHostAndNamespaceAreMergedWithinAScope) {
  AddExternal("b", "x.com", {80}, 3);
  AddExternal("b", "x.com", {443}, 2);
  AddExternal("b", "x.com", {80, 8080}, 1)->resolution = model::Resolution::kDnsLb;
  const SidecarScopePtr scope = Scope("a");
  EXPECT_THAT(Names(scope->imports->services), ElementsAre("x.com/b:80:443"))
      << "only the same kind of service is merged";
  EXPECT_THAT(scope->imports->egress[0].services, SizeIs(3));
}

TEST_F(SidecarScopeTest, VirtualServicesAreImportedByHost) {
  PutVirtualService("b", "exact", "hosts: 'x.com'", 4);
  PutVirtualService("b", "wild", "hosts: '*.com'", 3);
  PutVirtualService("b", "other", "hosts: 'y.org' hosts: 'z.org'", 2);
  PutVirtualService("c", "elsewhere", "hosts: 'x.com'", 1);
  PutSidecar("a", "s", "egress { hosts: 'b/x.com' }");
  EXPECT_THAT(Names(Scope("a")->virtual_services[0]), ElementsAre("b/exact", "b/wild"));
  PutSidecar("a", "s", "egress { hosts: '*/z.org' hosts: 'c/*' }");
  EXPECT_THAT(Names(Scope("a")->virtual_services[0]), ElementsAre("b/other", "c/elsewhere"));
  PutSidecar("a", "s", "egress { hosts: '*/*' hosts: '~b/*.com' hosts: '~b/y.org' }");
  EXPECT_THAT(Names(Scope("a")->virtual_services[0]), ElementsAre("b/other", "c/elsewhere"))
      << "another host of it still imports it";
}

TEST_F(SidecarScopeTest, GatewayApiRoutesMatchAsServicesDo) {
  PutVirtualService("b", "route", "hosts: '*.com'", 0, {{"internal.istio.io/route-semantics", "gateway"}});
  PutSidecar("a", "s", "egress { hosts: 'b/x.com' }");
  EXPECT_THAT(Scope("a")->virtual_services[0], IsEmpty());
  PutSidecar("a", "s", "egress { hosts: 'b/*.com' }");
  EXPECT_THAT(Scope("a")->virtual_services[0], SizeIs(1));
}

TEST_F(SidecarScopeTest, DestinationsOfVirtualServicesComeAlong) {
  AddService("b", "target", {80, 90});
  AddService("b", "other", {80});
  AddService("a", "own", {80});
  ExportTo(AddService("b", "hidden", {80}), {"b"});
  PutVirtualService("c", "v", R"(
      hosts: "x.com"
      http { route { destination { host: "target.b.svc.cluster.local" port { number: 90 } } }
             route { destination { host: "hidden.b.svc.cluster.local" } } }
      http { match { source_namespace: "z" } route { destination { host: "other.b.svc.cluster.local" } } })");
  PutSidecar("a", "s", "egress { hosts: 'c/*' hosts: './*' }");
  const SidecarScopePtr scope = Scope("a");
  EXPECT_THAT(Names(scope->imports->egress[0].services), ElementsAre("own.a.svc.cluster.local/a:80"));
  EXPECT_THAT(Names(scope->imports->services),
              ElementsAre("own.a.svc.cluster.local/a:80", "target.b.svc.cluster.local/b:90"));
}

TEST_F(SidecarScopeTest, DestinationNamespaceIsOwnThenKubernetesThenOldest) {
  AddExternal("y", "t.com", {80}, 1);
  AddExternal("x", "t.com", {81}, 2);
  PutVirtualService("c", "v", "hosts: 'x.com' http { route { destination { host: 't.com' } } }");
  PutSidecar("a", "s", "egress { hosts: 'c/*' }");
  EXPECT_THAT(Names(Scope("a")->imports->services), ElementsAre("t.com/x:81"));
  ExportTo(AddExternal("a", "t.com", {82}), {"elsewhere"});
  EXPECT_THAT(Names(Scope("a")->imports->services), ElementsAre("t.com/a:82"))
      << "exportTo does not matter in the own namespace";
}

TEST_F(SidecarScopeTest, AliasesAreCutDownToTheImported) {
  const auto concrete = AddService("b", "web", {80});
  concrete->aliases = {{"one.c.svc.cluster.local", "c"}, {"two.d.svc.cluster.local", "d"}};
  EXPECT_EQ(Scope("x")->imports->FindService(concrete->hostname), concrete);
  EXPECT_THAT(Imported("hosts: 'b/web.b.svc.cluster.local'"), ElementsAre(kWebB));
  EXPECT_THAT(Scope("a")->imports->FindService(concrete->hostname)->aliases, IsEmpty());
  EXPECT_THAT(Imported("hosts: 'b/web.b.svc.cluster.local' hosts: 'b/*.d.svc.cluster.local'"),
              ElementsAre(kWebB));
  EXPECT_THAT(Scope("a")->imports->FindService(concrete->hostname)->aliases,
              ElementsAre(model::NamespacedHost{"two.d.svc.cluster.local", "d"}));
}

TEST_F(SidecarScopeTest, RoutersSeeAllThatIsVisibleWhateverSidecarsSay) {
  AddService("b", "web", {80});
  ExportTo(AddService("b", "hidden", {80}), {"b"});
  PutVirtualService("b", "v", "hosts: 'x.com'");
  PutSidecar("a", "s", "egress { hosts: '~/*' }");
  const SidecarScopePtr scope = ScopeFor(*Build(), "a", {}, model::ProxyType::kRouter);
  EXPECT_THAT(Names(scope->imports->services), ElementsAre(kWebB));
  EXPECT_EQ(scope->imports->outbound_traffic_policy, nullptr);
  ASSERT_THAT(scope->imports->egress, SizeIs(1));
  EXPECT_THAT(scope->imports->egress[0].services, IsEmpty());
  EXPECT_THAT(scope->virtual_services[0], SizeIs(1));
}

TEST_F(SidecarScopeTest, ScopesKeepTheirPointersUntilTheirContentChanges) {
  AddService("b", "web", {80});
  ExportTo(AddService("b", "private", {80}), {"b"});
  const SidecarScopePtr a = Scope("a"), b = Scope("b");
  EXPECT_EQ(Scope("a"), a);
  ExportTo(AddService("b", "another-private", {80}), {"b"});
  PutSidecar("c", "unrelated", "");
  const SnapshotPtr snapshot = Build();
  EXPECT_EQ(ScopeFor(*snapshot, "a"), a);
  EXPECT_NE(ScopeFor(*snapshot, "b"), b);
  PutDestinationRule("b", "web", "host: 'web'");
  EXPECT_NE(Scope("a"), a);
}

}  // namespace
}  // namespace fairlead::mesh
