#include "push/publish/preview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "push/push_fakes.h"
#include "push/stream/generators.h"
#include "state/mesh.h"

// What connected proxies would be sent if the mesh were another one.
namespace fairlead::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using xds::TypeId;

constexpr char kMesh[] = R"(
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: a},
 spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: b},
 spec: {clusterIP: 10.0.0.2, ports: [{name: http, port: 80}]}}
---
{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: a},
 spec: {egress: [{hosts: [./*]}]}}
---
{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: b},
 spec: {egress: [{hosts: [./*]}]}}
)";
constexpr char kClusterOfA[] = "outbound|80||s.a.svc.cluster.local";

class PreviewTest : public testing::Test {
 protected:
  PreviewTest() : pusher_(new push::Pusher(Options(), push::MakeGenerators())) {
    const auto settings = model::MakeSettings(nullptr, model::ParseMeshNetworks("", "networks.yaml").networks,
                                              "cluster.local", "Kubernetes");
    Publish(live_.Apply(Parse(kMesh), settings).snapshot);
    for (const std::string ns : {"a", "b"}) {
      proxies_.push_back(std::make_shared<push::FakeProxy>());
      proxies_.back()->Connect(pusher_.get());
      const std::string node =
          StrCat("sidecar~10.1.0.", proxies_.size(), "~p.", ns, "~", ns, ".svc.cluster.local");
      const std::string cluster = StrCat("outbound|80||s.", ns, ".svc.cluster.local");
      proxies_.back()->Ask(TypeId::kCluster, {}, node);
      proxies_.back()->Ask(TypeId::kEndpoint, {cluster});
      proxies_.back()->Ask(TypeId::kListener);
      proxies_.back()->Ask(TypeId::kRoute, {"80"});
      proxies_.back()->Await(3);
    }
  }
  ~PreviewTest() override {
    for (const auto& proxy : proxies_) proxy->HangUp();
  }

  static push::PusherOptions Options() {
    push::PusherOptions options = push::MakeFakeOptions();
    options.scope = [](const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                       const mesh::ProxyScopePtr& previous,
                       bool shadow) { return mesh::ComputeProxyScope(snapshot, proxy, previous, shadow); };
    return options;
  }
  static std::vector<config::ObjectChange> Parse(std::string_view manifests, bool remove = false) {
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object : config::ParseManifests(manifests, "test.yaml").objects)
      changes.push_back({config::KeyOf(*object), remove ? nullptr : object});
    return changes;
  }
  void Publish(mesh::SnapshotPtr snapshot) {
    pusher_->Publish(std::move(snapshot), push::BecauseOf(push::Reason::kConfig));
  }

  // The differences that the changes would make, a line each: "p.a-1 CDS +cluster".
  std::vector<std::string> PreviewOf(const std::vector<config::ObjectChange>& changes) {
    state::Mesh second(live_);
    second.Apply(changes, nullptr);
    to_ = second.snapshot();
    std::vector<std::string> lines;
    for (const push::Preview& proxy : push::PreviewAll(*pusher_, live_.snapshot(), to_)) {
      for (const push::Preview::OfType& type : proxy.types) {
        const std::string of = StrCat(proxy.connection, " ", xds::InfoOf(type.type).name);
        for (const auto& each : type.difference->changed) lines.push_back(StrCat(of, " +", each->name.str()));
        for (const auto& each : type.difference->removed) lines.push_back(StrCat(of, " -", each->name.str()));
      }
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  state::Mesh live_;
  mesh::SnapshotPtr to_;  // of the last preview
  push::OwnedPusher pusher_;
  std::vector<std::shared_ptr<push::FakeProxy>> proxies_;
};

constexpr char kRouteOfA[] =
    "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: v, namespace: a}, "
    "spec: {hosts: [s], http: [{timeout: 3s, route: [{destination: {host: s}}]}]}}";

TEST_F(PreviewTest, AChangeConcernsThoseWhoSeeIt) {
  EXPECT_THAT(PreviewOf(Parse(kRouteOfA)), ElementsAre("p.a-1 RDS +80"));
}

TEST_F(PreviewTest, NothingDiffersNothingIsSaid) {
  EXPECT_THAT(PreviewOf({}), IsEmpty());
  EXPECT_THAT(PreviewOf(Parse("{apiVersion: v1, kind: Service, metadata: {name: other, namespace: c}, "
                              "spec: {clusterIP: 10.0.0.9, ports: [{name: http, port: 80}]}}")),
              IsEmpty());
}

// The endpoints of a cluster that is not there yet are asked for by nobody.
TEST_F(PreviewTest, WhatWouldBeReferredToIsAskedFor) {
  EXPECT_THAT(PreviewOf(Parse("{apiVersion: v1, kind: Service, metadata: {name: new, namespace: a}, "
                              "spec: {clusterIP: 10.0.0.3, ports: [{name: http, port: 81}]}}")),
              ElementsAre("p.a-1 CDS +outbound|81||new.a.svc.cluster.local",
                          "p.a-1 EDS +outbound|81||new.a.svc.cluster.local", "p.a-1 LDS +0.0.0.0_81",
                          "p.a-1 RDS +81"));
}

TEST_F(PreviewTest, WhatGoesIsSaid) {
  const auto lines =
      PreviewOf(Parse("{apiVersion: v1, kind: Service, metadata: {name: s, namespace: a}, "
                      "spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}}",
                      true));
  EXPECT_THAT(lines, testing::Contains(StrCat("p.a-1 CDS -", kClusterOfA)));
  EXPECT_THAT(lines, testing::Contains(StrCat("p.a-1 EDS -", kClusterOfA)));
  EXPECT_THAT(lines, testing::Each(testing::StartsWith("p.a-1 ")));
}

// The preview is of what is then sent, and sends nothing itself.
TEST_F(PreviewTest, APublicationSendsWhatWasPreviewed) {
  const size_t before = proxies_[0]->Responses();
  ASSERT_THAT(PreviewOf(Parse(kRouteOfA)), ElementsAre("p.a-1 RDS +80"));
  EXPECT_EQ(proxies_[0]->Responses(), before);
  Publish(to_);
  const auto response = proxies_[0]->Await(before);
  EXPECT_EQ(response.type_url(), xds::InfoOf(TypeId::kRoute).url);
  while (pusher_->BusyStreams() > 0) std::this_thread::yield();
  EXPECT_EQ(proxies_[0]->Responses(), before + 1);
  EXPECT_THAT(push::PreviewAll(*pusher_, pusher_->Snapshot(), to_), IsEmpty());
}

}  // namespace
}  // namespace fairlead::app
