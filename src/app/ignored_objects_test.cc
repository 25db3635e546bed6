#include "app/ignored_objects.h"

#include <gmock/gmock.h>

#include "config/read/manifests.h"

namespace fairlead::app {
namespace {

using config::Kind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(IgnoredKinds, AreNamedOrEndAlike) {
  EXPECT_THAT(IgnoredKinds("", ""), IsEmpty());
  EXPECT_THAT(IgnoredKinds("", "*.istio.io"), IsEmpty());
  EXPECT_THAT(IgnoredKinds("wasmplugins.extensions.istio.io, sidecars.networking.istio.io", ""),
              ElementsAre(Kind::kSidecar, Kind::kWasmPlugin));
  const auto most = IgnoredKinds("*.istio.io", "wasmplugins.extensions.istio.io,*.security.istio.io");
  EXPECT_THAT(most, Contains(Kind::kVirtualService));
  EXPECT_THAT(most, Not(Contains(Kind::kWasmPlugin)));
  EXPECT_THAT(most, Not(Contains(Kind::kAuthorizationPolicy)));
  EXPECT_THAT(most, Not(Contains(Kind::kHttpRoute)));
}

TEST(IgnoredKinds, AreNotKubernetesOwn) {
  const auto all = IgnoredKinds("*.k8s.io,services.,*.", "");
  EXPECT_THAT(all, Contains(Kind::kHttpRoute));
  EXPECT_THAT(all, Not(Contains(Kind::kIngress)));
  EXPECT_THAT(all, Not(Contains(Kind::kEndpointSlice)));
  EXPECT_THAT(all, Not(Contains(Kind::kService)));
}

class Seen : public source::Sink {
 public:
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    for (const config::ObjectChange& change : changes) kinds.push_back(change.key.kind);
  }
  void Replace(Kind kind, std::vector<config::ConfigPtr> objects) override {
    if (!objects.empty()) kinds.push_back(kind);
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override { problems = diagnostics.size(); }
  void Synced(Kind kind) override { kinds.push_back(kind); }
  void OnSynced() override { synced = true; }

  std::vector<Kind> kinds;
  size_t problems = 0;
  bool synced = false;
};

TEST(ObjectFilter, IgnoredKindsDoNotExistForTheNext) {
  Seen seen;
  const auto filter = MakeObjectFilter({{Kind::kSidecar}, ""}, &seen);
  const config::ObjectKey sidecar{Kind::kSidecar, "a", "s"}, service{Kind::kService, "a", "s"};
  filter->OnChanges({{sidecar, nullptr}, {service, nullptr}});
  EXPECT_THAT(seen.kinds, ElementsAre(Kind::kService));
  seen.kinds.clear();
  const auto parsed = config::ParseManifests(
      "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: s, namespace: a}\nspec: {egress: "
      "[{hosts: [\"./*\"]}]}\n",
      "test.yaml");
  ASSERT_EQ(parsed.objects.size(), 1u);
  filter->Replace(Kind::kSidecar, parsed.objects);
  EXPECT_THAT(seen.kinds, IsEmpty());
  config::Diagnostic of_sidecar, of_service, of_file;
  of_sidecar.object = sidecar;
  of_service.object = service;
  filter->OnDiagnostics({of_sidecar, of_service, of_file});
  EXPECT_EQ(seen.problems, 2u);
  filter->OnSynced();
  EXPECT_TRUE(seen.synced);
}

TEST(IgnoredObjects, OfOneWatchedNamespaceKubernetesKindsAreReadOfItAlone) {
  Environment environment;
  EXPECT_TRUE(IgnoredBy(environment).empty());
  environment.only_namespace = "shop";
  const IgnoredObjects ignored = IgnoredBy(environment);
  EXPECT_FALSE(ignored.Has({Kind::kService, "shop", "s"}));
  EXPECT_TRUE(ignored.Has({Kind::kService, "default", "s"}));
  EXPECT_TRUE(ignored.Has({Kind::kService, "istio-system", "s"})) << "as istiod does";
  EXPECT_TRUE(ignored.Has({Kind::kHttpRoute, "default", "r"}));
  EXPECT_FALSE(ignored.Has({Kind::kNamespace, "", "default"}));
  EXPECT_FALSE(ignored.Has({Kind::kVirtualService, "default", "v"})) << "istiod reads a folder's whole";
}

TEST(ObjectFilter, OfAKindThoseOfOtherNamespacesAreLeftOut) {
  Seen seen;
  const auto filter = MakeObjectFilter({{}, "shop"}, &seen);
  const auto parsed = config::ParseManifests(
      "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: default}\nspec: {ports: [{port: 80}]}\n",
      "test.yaml");
  ASSERT_EQ(parsed.objects.size(), 1u);
  filter->Replace(Kind::kService, parsed.objects);
  filter->OnChanges({{{Kind::kService, "default", "a"}, parsed.objects.front()}});
  EXPECT_THAT(seen.kinds, IsEmpty());
  filter->OnChanges({{{Kind::kService, "shop", "a"}, nullptr}});
  EXPECT_THAT(seen.kinds, ElementsAre(Kind::kService));
}

}  // namespace
}  // namespace fairlead::app
