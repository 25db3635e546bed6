#include "app/rejection_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "push/stream/track.h"
#include "state/mesh.h"

namespace fairlead::app {
namespace {

// Keeps what was told last.
class LastDiagnostics : public source::Sink {
 public:
  void OnChanges(std::vector<config::ObjectChange> /*changes*/) override {}
  void Replace(config::Kind /*kind*/, std::vector<config::ConfigPtr> /*objects*/) override {}
  void Synced(config::Kind /*kind*/) override {}
  void OnSynced() override {}
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    std::lock_guard lock(mutex_);
    told_ = std::move(diagnostics);
  }
  // "FILE:LINE" of the only one; "" where there is none.
  std::string Place() {
    std::lock_guard lock(mutex_);
    return told_.size() == 1 ? StrCat(told_[0].file, ":", told_[0].line) : "";
  }
  bool Await(const std::string& place) {
    for (int i = 0; i < 2000 && Place() != place; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return Place() == place;
  }

 private:
  std::mutex mutex_;
  std::vector<config::Diagnostic> told_;
};

class RejectionWatchTest : public testing::Test {
 protected:
  void Apply(int lines_before) {
    const std::string text(static_cast<size_t>(lines_before), '\n');
    std::vector<config::ObjectChange> changes;
    for (const auto& object :
         config::ParseManifests(
             StrCat(text,
                    "{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, "
                    "metadata: {name: limit, namespace: shop}, spec: {configPatches: []}}"),
             "a.yaml")
             .objects)
      changes.push_back({config::KeyOf(*object), object});
    ASSERT_EQ(changes.size(), 1u);
    std::lock_guard lock(mutex_);
    mesh_.Apply(changes, mesh_.snapshot() != nullptr
                             ? nullptr
                             : model::MakeSettings(model::ParseMeshConfig("", "mesh.yaml").mesh,
                                                   model::ParseMeshNetworks("", "networks.yaml").networks,
                                                   "cluster.local", "Kubernetes"));
  }
  // A proxy refuses the one listener, which was made of the EnvoyFilter.
  void Reject() {
    auto resource = std::make_shared<cache::Resource>();
    resource->name = "virtualInbound";
    resource->any = std::string("version 1");
    resource->hash = StableHash(resource->any.plain());
    resource->origins = {{"EnvoyFilter/shop/limit", {0, 1}}};
    const xds::ResourceSetPtr sent = xds::ResourceSet::Of(std::vector<xds::ResourcePtr>{resource});
    xds::Response response;
    response.lists = sent->parts();
    xds::Acceptance acceptance;
    acceptance.OnSent(1, sent, response);
    const std::string error = "Error adding/updating listener(s) virtualInbound: no\n";
    acceptance.OnNack(1, error);
    auto proxy = std::make_shared<model::Proxy>();
    proxy->id = "web.shop";
    const model::ProxyPtr as_const = proxy;
    watch_.rejections().OnAnswer(
        {1, as_const, push::kLiveTrack, xds::TypeId::kListener, true, error, sent, acceptance});
  }

  std::mutex mutex_;
  state::Mesh mesh_;  // guarded by mutex_
  LastDiagnostics told_;
  RejectionWatch watch_;
};

TEST_F(RejectionWatchTest, NamesThePlaceOfTheObjectToday) {
  Apply(0);
  watch_.Start({[this] {
                  std::lock_guard lock(mutex_);
                  return mesh_.now();
                },
                &told_});
  Reject();
  ASSERT_TRUE(told_.Await("a.yaml:1")) << told_.Place();
  Apply(3);
  watch_.OnPublished();
  EXPECT_TRUE(told_.Await("a.yaml:4")) << told_.Place();
  Apply(0);
  watch_.OnPublished();
  EXPECT_TRUE(told_.Await("a.yaml:1")) << told_.Place();
  watch_.Stop();
}

}  // namespace
}  // namespace fairlead::app
