#include <functional>
#include <random>

#include "mesh/mesh_fixture.h"
#include "mesh/snapshot_text.h"

// However a mesh came to be what it is, its snapshot is the one that a fresh start would give.
namespace fairlead::mesh {
namespace {

constexpr const char* kNamespaces[] = {"istio-system", "a", "b", "c"};

class IncrementalTest : public MeshFixture {
 protected:
  int Dice(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }
  std::string Pick(std::initializer_list<const char*> texts) { return *(texts.begin() + Dice(texts.size())); }
  std::string Namespace() { return kNamespaces[Dice(std::size(kNamespaces))]; }

  void ChangeVirtualService() {
    const std::string host =
        Pick({"hosts: 's0'", "hosts: '*.example.com'", "hosts: 's1.b.svc.cluster.local'", ""});
    const std::string route =
        Pick({"http { delegate { name: 'o1' namespace: 'a' } match { uri { prefix: '/a' } } }",
              "http { route { destination { host: 's1.b.svc.cluster.local' } } }",
              "http { match { uri { exact: '/b' } } route { destination { host: 's2' } } }"});
    PutVirtualService(Namespace(), StrCat("o", Dice(3)),
                      host + route + Pick({"", "export_to: '.'", "export_to: 'b'"}), Dice(3));
  }
  void ChangeDestinationRule() {
    PutDestinationRule(
        Namespace(), StrCat("o", Dice(3)),
        Pick({"host: 's0' ", "host: '*' ", "host: 's1.b.svc.cluster.local' "}) +
            Pick({"", "subsets { name: 'v1' }", "subsets { name: 'v2' }"}) +
            Pick({"", "export_to: '.'", "workload_selector { match_labels { key: 'app' value: 'x' } }"}),
        Dice(3));
  }
  void ChangeSidecar() {
    PutSidecar(
        Namespace(), StrCat("o", Dice(2)),
        Pick({"", "egress { hosts: './*' }", "egress { hosts: '*/*' port { number: 80 } }",
              "egress { hosts: 'b/*' hosts: './s1.*' hosts: '~c/*' }",
              "egress { hosts: 'b/s1.b.svc.cluster.local' hosts: './s0.a.svc.cluster.local' }",
              "egress { hosts: 'c/*' port { number: 80 } } egress { hosts: 'a/*' hosts: '~*/s2.*' }"}) +
            Pick({"", "workload_selector { labels { key: 'app' value: 'x' } }"}));
  }
  void ChangePolicy() {
    PutPeerAuthentication(Namespace(), StrCat("o", Dice(2)),
                          Pick({"mtls { mode: STRICT }", "mtls { mode: DISABLE }", ""}), Dice(3));
  }
  void RemoveSomething() {
    const config::Kind kinds[] = {config::Kind::kVirtualService, config::Kind::kDestinationRule,
                                  config::Kind::kSidecar, config::Kind::kPeerAuthentication};
    Remove(kinds[Dice(4)], Namespace(), StrCat("o", Dice(3)));
  }
  void ChangeService() {
    const size_t old = Dice(static_cast<int>(services_.size()));
    auto changed = std::make_shared<model::Service>(*services_[old]);
    changed->ports[0].port = 80 + Dice(2);
    ExportTo(changed, {Namespace(), Namespace()});
    changed->visibility.everywhere = Dice(2) == 0;
    ReplaceService(services_[old], changed);
  }
  void ChangeSettings() {
    auto& mesh = NewMeshConfig();
    mesh.clear_default_virtual_service_export_to();
    if (Dice(2) == 0) mesh.add_default_virtual_service_export_to(".");
    SetSettings();
  }
  void Step() {
    const std::function<void()> steps[] = {
        [this] { ChangeVirtualService(); }, [this] { ChangeDestinationRule(); }, [this] { ChangeSidecar(); },
        [this] { ChangePolicy(); },         [this] { RemoveSomething(); },       [this] { ChangeService(); },
        [this] { ChangeSettings(); }};
    steps[Dice(std::size(steps))]();
  }
  static std::string WholeText(const MeshSnapshot& snapshot, const SnapshotBuilder& builder) {
    return StrCat(Text(snapshot, kNamespaces), Text(builder.diagnostics()));
  }
  std::string FreshText() {
    SnapshotBuilder fresh(std::make_shared<model::Settings>(settings_));
    const SnapshotPtr snapshot = fresh.Build(store_, registry_);
    return WholeText(*snapshot, fresh);
  }

  std::mt19937 random_{20240101};
};

TEST_F(IncrementalTest, SnapshotsAreThoseOfAFreshStart) {
  for (const char* ns : kNamespaces) {
    for (int i = 0; i < 3; ++i) AddService(ns, StrCat("s", i), {80, 90});
  }
  AddExternal("a", "*.example.com", {80});
  AddExternal("b", "www.example.com", {80});
  for (int round = 0; round < 120; ++round) {
    for (int steps = 1 + Dice(3); steps > 0; --steps) Step();
    const SnapshotPtr snapshot = Build();
    ASSERT_EQ(WholeText(*snapshot, builder_), FreshText()) << "round " << round;
  }
}

TEST_F(IncrementalTest, NothingChangedKeepsEveryPart) {
  AddService("a", "s0", {80});
  PutVirtualService("a", "v", "hosts: 's0'");
  const SnapshotPtr before = Build();
  const SnapshotPtr after = Build();
  EXPECT_EQ(after->services, before->services);
  EXPECT_EQ(after->endpoints, before->endpoints);
  EXPECT_EQ(after->external_targets, before->external_targets);
  EXPECT_EQ(after->workloads, before->workloads);
  EXPECT_EQ(after->networks, before->networks);
  EXPECT_EQ(after->virtual_services, before->virtual_services);
  EXPECT_EQ(after->destination_rules, before->destination_rules);
  EXPECT_EQ(after->peer_authentications, before->peer_authentications);
  EXPECT_EQ(after->objects, before->objects);
  EXPECT_EQ(after->scopes, before->scopes);
  EXPECT_GT(after->revision, before->revision);
}

}  // namespace
}  // namespace fairlead::mesh
