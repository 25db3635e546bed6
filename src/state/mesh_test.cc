#include "state/mesh.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <optional>
#include <random>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "mesh/index/destination_rule_index.h"
#include "mesh/snapshot_text.h"
#include "mesh/view/question_table.h"
#include "model/mesh_config.h"
#include "state/pod_slices.h"

// A second mesh is a mesh: whatever happens to either, each is what its own objects make it.
namespace fairlead::state {
namespace {

constexpr const char* kNamespaces[] = {"istio-system", "a", "b"};

model::SettingsPtr Settings(std::string_view mesh = "") {
  return model::MakeSettings(model::ParseMeshConfig(mesh, "mesh.yaml").mesh,
                             model::ParseMeshNetworks("", "networks.yaml").networks, "cluster.local",
                             "Kubernetes");
}

std::vector<config::ObjectChange> Parse(std::string_view manifests, std::string_view cluster = "") {
  const config::ParseResult result = config::ParseManifests(
      manifests, "test.yaml", config::Admission::kPassed, config::Documents::kDropped, cluster);
  for (const config::Diagnostic& d : result.diagnostics) ADD_FAILURE() << config::ToText(d);
  std::vector<config::ObjectChange> changes;
  changes.reserve(result.objects.size());
  for (const config::ConfigPtr& object : result.objects) changes.push_back({config::KeyOf(*object), object});
  return changes;
}

std::string Text(const Mesh& mesh) {
  return StrCat(mesh::Text(*mesh.snapshot(), kNamespaces), mesh::Text(mesh.Diagnostics()));
}

// One without steps, or one that makes EndpointSlices of Pods.
std::unique_ptr<Mesh> NewMesh(bool pod_slices) {
  std::vector<std::unique_ptr<Derivation>> steps;
  if (pod_slices) steps.push_back(NewPodSlicesDerivation());
  return std::make_unique<Mesh>(std::move(steps));
}

// A mesh made of all that another has, at once.
std::string TextOfAFreshOne(const Mesh& mesh, bool pod_slices) {
  std::vector<config::ObjectChange> all;
  std::vector<Interned> clusters = mesh.written().OtherClusters();
  clusters.emplace_back();
  for (const Interned& cluster : clusters) {
    for (const config::KindInfo& kind : config::AllKinds()) {
      for (const auto& [name, object] : mesh.written().All(kind.kind, cluster))
        all.push_back({config::KeyOf(*object), object});
    }
  }
  const std::unique_ptr<Mesh> fresh = NewMesh(pod_slices);
  fresh->Apply(all, mesh.settings());
  return Text(*fresh);
}

TEST(MeshOfObjects, KeySetsAreAChangeOfTheirOwn) {
  Mesh mesh;
  mesh.Apply({}, Settings());
  EXPECT_EQ(mesh.Apply({}, nullptr).snapshot, nullptr);
  const auto keys = std::make_shared<const model::KeySets>();
  model::Facts facts;
  facts.Set(keys);
  const mesh::SnapshotPtr snapshot = mesh.Apply({}, facts).snapshot;
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->key_sets, keys);
  EXPECT_EQ(mesh.Apply({}, facts).snapshot, nullptr) << "they are the same";
  EXPECT_EQ(mesh.Apply({}, nullptr).snapshot, nullptr) << "what is not said is as it was";
  EXPECT_EQ(mesh.snapshot()->key_sets, keys);
}

class Script {
 public:
  explicit Script(uint32_t seed) : random_(seed) {}

  // One to three changes of a small mesh of three clusters.
  std::vector<config::ObjectChange> Next() {
    std::vector<config::ObjectChange> all;
    for (int left = 1 + Dice(3); left > 0; --left) {
      for (config::ObjectChange& change : Parse(Manifest(), Pick({"", "", "", "east", "west"}))) {
        if (Dice(4) == 0) change.object = nullptr;
        all.push_back(std::move(change));
      }
    }
    return all;
  }
  model::SettingsPtr NextSettings() {
    if (Dice(12) != 0) return nullptr;
    return Settings(Dice(2) == 0 ? "{defaultVirtualServiceExportTo: [.]}" : "{rootNamespace: a}");
  }
  int Dice(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }

 private:
  std::string Pick(std::initializer_list<const char*> texts) { return *(texts.begin() + Dice(texts.size())); }
  std::string Head(const char* version, const char* kind, const std::string& more = "") {
    return StrCat("apiVersion: ", version, "\nkind: ", kind, "\nmetadata: {name: o", Dice(3),
                  ", namespace: ", kNamespaces[Dice(3)], more, "}\n");
  }
  std::string Manifest() {
    const std::function<std::string()> kinds[] = {
        [this] { return Service(); },         [this] { return Pod(); },           [this] { return Slice(); },
        [this] { return ServiceEntry(); },    [this] { return WorkloadEntry(); }, [this] { return Route(); },
        [this] { return DestinationRule(); }, [this] { return Sidecar(); },       [this] { return Policy(); },
        [this] { return Namespace(); }};
    return kinds[Dice(std::size(kinds))]();
  }
  std::string Service() {
    return Head("v1", "Service") +
           Pick({"spec: {clusterIP: 10.9.0.1, selector: {app: x}, ports: [{name: http, port: 80}]}",
                 "spec: {clusterIP: 10.9.0.2, ports: [{name: tcp-x, port: 81}, {name: http, port: 80}]}",
                 "spec: {type: ExternalName, externalName: o1.b.svc.cluster.local}"});
  }
  std::string Pod() {
    return Head("v1", "Pod", StrCat(", labels: {app: ", Pick({"x", "other"}), "}")) +
           StrCat("status: {phase: Running, podIP: 10.1.0.", Dice(4),
                  ", conditions: [{type: Ready, status: '", Pick({"True", "False"}), "'}]}");
  }
  std::string Slice() {
    return Head("discovery.k8s.io/v1", "EndpointSlice",
                StrCat(", labels: {kubernetes.io/service-name: o", Dice(3), "}")) +
           StrCat("addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.",
                  Dice(4), "]",
                  Dice(2) == 0 ? "" : StrCat(", targetRef: {kind: Pod, namespace: a, name: o", Dice(3), "}"),
                  "}]");
  }
  std::string ServiceEntry() {
    return Head("networking.istio.io/v1", "ServiceEntry") +
           Pick({"spec: {hosts: [x.com], ports: [{number: 80, name: http, protocol: HTTP}], "
                 "resolution: STATIC, workloadSelector: {labels: {app: x}}}",
                 "spec: {hosts: [x.com, y.com], ports: [{number: 81, name: tcp, protocol: TCP}], "
                 "resolution: STATIC, endpoints: [{address: 2.2.2.2}], exportTo: [.]}",
                 "spec: {hosts: ['*.z.com'], ports: [{number: 80, name: http, protocol: HTTP}]}"});
  }
  std::string WorkloadEntry() {
    return Head("networking.istio.io/v1", "WorkloadEntry") +
           StrCat("spec: {address: 3.3.3.", Dice(3), ", labels: {app: x}}");
  }
  std::string Route() {
    return Head("networking.istio.io/v1", "VirtualService") +
           Pick({"spec: {hosts: [x.com], http: [{route: [{destination: {host: x.com}}]}]}",
                 "spec: {hosts: [o1.b.svc.cluster.local], exportTo: [b], "
                 "http: [{timeout: 1s, route: [{destination: {host: o1.b.svc.cluster.local}}]}]}",
                 "spec: {hosts: [o0], http: [{match: [{uri: {prefix: /x}}], "
                 "delegate: {name: o1, namespace: a}}]}",
                 "spec: {http: [{route: [{destination: {host: o2.a.svc.cluster.local}}]}]}"});
  }
  std::string DestinationRule() {
    return Head("networking.istio.io/v1", "DestinationRule") +
           Pick({"spec: {host: x.com}", "spec: {host: o1.b.svc.cluster.local, subsets: [{name: v1}]}",
                 "spec: {host: x.com, subsets: [{name: v2}], exportTo: [.]}"});
  }
  std::string Sidecar() {
    return Head("networking.istio.io/v1", "Sidecar") +
           Pick({"spec: {egress: [{hosts: [./*]}]}",
                 "spec: {workloadSelector: {labels: {app: x}}, egress: [{hosts: ['*/x.com']}]}"});
  }
  std::string Policy() {
    return Head("security.istio.io/v1", "PeerAuthentication") +
           Pick({"spec: {mtls: {mode: STRICT}}", "spec: {selector: {matchLabels: {app: x}}}"});
  }
  std::string Namespace() {
    return StrCat("apiVersion: v1\nkind: Namespace\nmetadata: {name: ", kNamespaces[Dice(3)],
                  ", labels: {topology.istio.io/network: ", Pick({"n1", "n2"}), "}}");
  }

  std::mt19937 random_;
};

class TwoMeshes : public testing::TestWithParam<uint32_t> {};

TEST_P(TwoMeshes, AreEachWhatTheirOwnObjectsMakeThem) {
  Script script(GetParam());
  const bool pod_slices = GetParam() > 3;
  std::unique_ptr<Mesh> live = NewMesh(pod_slices), second;
  live->Apply({}, Settings());
  for (int round = 0; round < 150; ++round) {
    if (second == nullptr || script.Dice(15) == 0) {
      second = std::make_unique<Mesh>(*live);
      ASSERT_EQ(Text(*second), Text(*live));
    } else if (script.Dice(20) == 0) {
      live = std::make_unique<Mesh>(*second);  // the second one becomes the live one
    }
    Mesh& changed = script.Dice(2) == 0 ? *live : *second;
    const Mesh& other = &changed == live.get() ? *second : *live;
    const std::string of_other = Text(other);
    changed.Apply(script.Next(), script.NextSettings());
    ASSERT_EQ(Text(changed), TextOfAFreshOne(changed, pod_slices)) << "round " << round;
    ASSERT_EQ(Text(other), of_other) << "round " << round;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, TwoMeshes, testing::Range(1u, 8u));

constexpr char kService[] =
    "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: a}, "
    "spec: {clusterIP: 10.9.0.1, ports: [{name: http, port: 80}]}}";
constexpr char kRule[] =
    "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: web, namespace: b}, "
    "spec: {host: web.a.svc.cluster.local}}";
constexpr char kRoute[] =
    "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: web, namespace: a}, "
    "spec: {hosts: [web], http: [{route: [{destination: {host: web}}]}]}}";

TEST(SecondMesh, SharesAllButTheChange) {
  Mesh live;
  live.Apply(Parse(StrCat(kService, "\n---\n", kRule)), Settings());
  Mesh second(live);
  EXPECT_EQ(second.snapshot(), live.snapshot());
  EXPECT_EQ(second.Apply(Parse(kRule), nullptr).snapshot, nullptr) << "it is there already";
  const Mesh::Change change = second.Apply(Parse(kRoute), nullptr);
  EXPECT_EQ(change.objects.size(), 1u);
  EXPECT_EQ(change.snapshot, second.snapshot());
  std::vector<std::string_view> parts;
  mesh::ForEachDifference(live.snapshot().get(), *second.snapshot(),
                          [&](const mesh::Question& part) { parts.push_back(mesh::InfoOf(part.part).name); });
  EXPECT_THAT(parts, testing::UnorderedElementsAre("VirtualServices", "AllVirtualServices", "Written"));
  EXPECT_TRUE(live.snapshot()->virtual_services->All().empty());
  EXPECT_EQ(live.snapshot()->written->All(config::Kind::kVirtualService), nullptr);
  EXPECT_EQ(second.snapshot()->written->All(config::Kind::kVirtualService)->size(), 1u);
  EXPECT_EQ(second.snapshot()->written->All(config::Kind::kDestinationRule),
            live.snapshot()->written->All(config::Kind::kDestinationRule));
}

std::vector<std::string> Unused(const Mesh& mesh) {
  std::vector<std::string> texts;
  for (const config::Diagnostic& d : mesh.Diagnostics()) {
    if (d.code == config::kNoEffectCode) texts.push_back(config::Describe(*d.object));
  }
  return texts;
}

TEST(OtherClusters, BringServicesAndNoConfiguration) {
  Mesh mesh;
  mesh.Apply(Parse(StrCat(kRule, "\n---\n", kRoute, "\n---\n", kService), "east"), Settings());
  EXPECT_NE(mesh.snapshot()->services->Find("web.a.svc.cluster.local", "a"), nullptr);
  EXPECT_TRUE(mesh.snapshot()->virtual_services->All().empty());
  EXPECT_THAT(Unused(mesh), testing::UnorderedElementsAre("DestinationRule b/web of cluster east",
                                                          "VirtualService a/web of cluster east"))
      << "each is said once";
  std::vector<config::ObjectChange> gone = Parse(kRule, "east");
  gone[0].object = nullptr;
  mesh.Apply(gone, nullptr);
  EXPECT_THAT(Unused(mesh), testing::ElementsAre("VirtualService a/web of cluster east"));
}

TEST(OtherClusters, DoNotHideWhatTheOwnOneHas) {
  Mesh mesh;
  mesh.Apply(Parse(StrCat(kService, "\n---\n", kRoute)), Settings());
  Mesh second(mesh);
  const std::string before = Text(mesh);
  mesh.Apply(Parse(StrCat(kService, "\n---\n", kRoute), "east"), nullptr);
  EXPECT_EQ(mesh.snapshot()->virtual_services->All().size(), 1u);
  EXPECT_EQ(mesh.snapshot()->services->Find("web.a.svc.cluster.local", "a")->in_other_clusters.size(), 1u);
  EXPECT_EQ(Text(second), before);
  std::vector<config::ObjectChange> gone = Parse(StrCat(kService, "\n---\n", kRoute), "east");
  for (config::ObjectChange& change : gone) change.object = nullptr;
  mesh.Apply(gone, nullptr);
  EXPECT_EQ(Text(mesh), before);
}

TEST(SecondMesh, RevisionsNameSnapshotsOfTheProcess) {
  Mesh live;
  live.Apply({}, Settings());
  Mesh second(live);
  live.Apply(Parse(kService), nullptr);
  second.Apply(Parse(kRule), nullptr);
  EXPECT_NE(second.snapshot()->revision, live.snapshot()->revision);
}

// Makes of each Gateway API HTTPRoute a DestinationRule of its name, for want of a real step.
class RulesOfRoutes : public Derivation {
 public:
  std::unique_ptr<Derivation> Clone() const override { return std::make_unique<RulesOfRoutes>(*this); }
  Outcome Apply(const config::ObjectStore& /*objects*/, std::span<const config::ObjectChange> changes,
                const model::SettingsPtr& /*settings*/) override {
    Outcome outcome;
    for (const config::ObjectChange& change : changes) {
      if (change.key.kind != config::Kind::kHttpRoute) continue;
      config::ObjectChange made{{config::Kind::kDestinationRule, change.key.ns, change.key.name}, nullptr};
      if (change.object != nullptr) {
        made.object =
            Parse(StrCat("{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: ",
                         change.key.name.str(), ", namespace: ", change.key.ns.str(),
                         "}, spec: {host: made.example.com}}"))[0]
                .object;
        ++routes_;
      }
      outcome.objects.push_back(std::move(made));
    }
    return outcome;
  }
  std::vector<config::Diagnostic> Diagnostics() const override {
    return std::vector<config::Diagnostic>(routes_);
  }

 private:
  size_t routes_ = 0;  // seen so far
};

class Derivations : public testing::Test {
 protected:
  static constexpr char kHttpRoute[] =
      "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: b}, "
      "spec: {}}";

  Derivations() {
    std::vector<std::unique_ptr<Derivation>> steps;
    steps.push_back(std::make_unique<RulesOfRoutes>());
    mesh_.emplace(std::move(steps));
    mesh_->Apply({}, Settings());
  }
  // The hosts of the rules of namespace b.
  static std::string Hosts(const Mesh& mesh) {
    std::string hosts;
    model::Service service;
    service.ns = "b";
    for (const char* host : {"made.example.com", "web.a.svc.cluster.local"}) {
      service.hostname = host;
      if (!mesh.snapshot()->destination_rules->Lookup("b", service).empty()) StrAppend(&hosts, host, " ");
    }
    return hosts;
  }
  static std::vector<config::ObjectChange> Gone(std::vector<config::ObjectChange> changes) {
    for (config::ObjectChange& change : changes) change.object = nullptr;
    return changes;
  }
  std::optional<Mesh> mesh_;
};

TEST_F(Derivations, MadeObjectsFollowThoseTheyAreMadeOf) {
  const Mesh::Change change = mesh_->Apply(Parse(kHttpRoute), nullptr);
  EXPECT_EQ(Hosts(*mesh_), "made.example.com ");
  EXPECT_EQ(change.objects.size(), 1u) << "what is made is not written";
  EXPECT_EQ(mesh_->written().Find(config::Kind::kDestinationRule, "b", "web"), nullptr);
  EXPECT_EQ(mesh_->Diagnostics().size(), 1u);
  mesh_->Apply(Gone(Parse(kHttpRoute)), nullptr);
  EXPECT_EQ(Hosts(*mesh_), "");
}

TEST_F(Derivations, WhatIsWrittenComesBeforeWhatIsMade) {
  mesh_->Apply(Parse(kHttpRoute), nullptr);
  mesh_->Apply(Parse(kRule), nullptr);
  EXPECT_EQ(Hosts(*mesh_), "web.a.svc.cluster.local ");
  mesh_->Apply(Gone(Parse(kRule)), nullptr);
  EXPECT_EQ(Hosts(*mesh_), "made.example.com ") << "it is there again";
}

TEST_F(Derivations, ASecondMeshHasItsOwn) {
  Mesh second(*mesh_);
  second.Apply(Parse(kHttpRoute), nullptr);
  EXPECT_EQ(Hosts(second), "made.example.com ");
  EXPECT_EQ(second.Diagnostics().size(), 1u);
  EXPECT_EQ(Hosts(*mesh_), "");
  EXPECT_TRUE(mesh_->Diagnostics().empty());
}

// Objects of a file, read at a line.
std::vector<config::ObjectChange> ReadAt(std::string_view manifests, const std::string& file,
                                         int lines_before) {
  std::vector<config::ObjectChange> changes;
  for (const auto& object :
       config::ParseManifests(std::string(static_cast<size_t>(lines_before), '\n') + std::string(manifests),
                              file)
           .objects)
    changes.push_back({config::KeyOf(*object), object});
  return changes;
}

constexpr char kTwoRules[] =
    "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: one, namespace: b, "
    "creationTimestamp: '2020-01-01T00:00:00Z'}, spec: {host: web.a.svc.cluster.local, subsets: [{name: "
    "v1}]}}\n"
    "---\n"
    "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: two, namespace: b, "
    "creationTimestamp: '2021-01-01T00:00:00Z'}, spec: {host: web.a.svc.cluster.local, subsets: [{name: "
    "v1}]}}\n";

std::string PlaceOf(const Mesh& mesh) {
  const auto all = mesh.Diagnostics();
  return all.size() == 1 ? StrCat(all[0].file, ":", all[0].line) : StrCat(all.size(), " diagnostics");
}

TEST(Places, OfDiagnosticsAndObjectsAreThoseOfToday) {
  Mesh mesh;
  mesh.Apply(ReadAt(kTwoRules, "a.yaml", 0), Settings());
  ASSERT_EQ(PlaceOf(mesh), "a.yaml:3");
  const mesh::SnapshotPtr before = mesh.snapshot();
  const Mesh copy(mesh);
  const Mesh::Change change = mesh.Apply(ReadAt(kTwoRules, "a.yaml", 4), nullptr);
  EXPECT_EQ(change.snapshot, nullptr) << "nothing is another";
  EXPECT_TRUE(change.objects.empty());
  EXPECT_EQ(PlaceOf(mesh), "a.yaml:7");
  const config::ObjectKey key{config::Kind::kDestinationRule, "b", "two"};
  EXPECT_EQ(mesh.now().Find(key)->origin().line, 7);
  EXPECT_EQ(mesh.now().Written()[1]->origin().line, 7);
  EXPECT_EQ(PlaceOf(copy), "a.yaml:3");
  mesh.Apply(ReadAt(kTwoRules, "b.yaml", 1), nullptr);
  EXPECT_EQ(PlaceOf(mesh), "b.yaml:4");
  mesh.Apply(ReadAt(kTwoRules, "a.yaml", 0), nullptr);
  EXPECT_EQ(PlaceOf(mesh), "a.yaml:3");
  EXPECT_EQ(mesh.snapshot(), before);
}

TEST(DiagnosticLists, StayWhereNothingWrongChanges) {
  Mesh mesh;
  mesh.Apply(ReadAt(kTwoRules, "a.yaml", 0), Settings());
  auto changes = Parse(kRule, "east");
  mesh.Apply(changes, nullptr);
  const std::vector<config::DiagnosticList> before = mesh.diagnostic_lists();
  EXPECT_EQ(mesh.Diagnostics().size(), 2u);
  ASSERT_NE(mesh.Apply(Parse(kService), nullptr).snapshot, nullptr);
  ASSERT_NE(mesh.Apply(Parse(kService, "east"), nullptr).snapshot, nullptr);
  EXPECT_EQ(mesh.diagnostic_lists(), before) << "neither made again nor looked through";
  for (config::ObjectChange& change : changes) change.object = nullptr;
  mesh.Apply(changes, nullptr);
  EXPECT_NE(mesh.diagnostic_lists(), before);
  EXPECT_EQ(mesh.Diagnostics().size(), 1u);
}

}  // namespace
}  // namespace fairlead::state
