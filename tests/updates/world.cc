#include "tests/updates/world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "app/mesh_model.h"
#include "base/log.h"
#include "config/manifests.h"
#include "config/no_effect.h"
#include "mesh/proxy_scope.h"
#include "model/mesh_config.h"
#include "push/generators.h"

namespace fairlead::updates {
namespace {

push::PusherOptions MakeOptions(bool shadow) {
  push::PusherOptions options;
  options.shadow = shadow;
  options.threads = 2;
  options.send_timeout = Clock::duration::zero();
  options.time_to_let_go = std::chrono::milliseconds(1);
  options.scope = mesh::ComputeProxyScope;
  return options;
}

std::vector<config::ObjectChange> Parse(std::string_view manifests, bool gone) {
  const config::ParseResult parsed = config::ParseManifests(manifests, "test.yaml");
  for (const config::Diagnostic& mistake : parsed.diagnostics) {
    if (mistake.code != config::kNoEffectCode) ADD_FAILURE() << config::ToText(mistake);
  }
  EXPECT_FALSE(parsed.objects.empty()) << manifests;
  std::vector<config::ObjectChange> changes;
  changes.reserve(parsed.objects.size());
  for (const config::ConfigPtr& object : parsed.objects) {
    changes.push_back({config::KeyOf(*object), gone ? nullptr : object});
  }
  return changes;
}

model::SettingsPtr ParseSettings(std::string_view mesh_config, std::string_view mesh_networks) {
  const auto mesh = model::ParseMeshConfig(mesh_config, "mesh.yaml");
  const auto networks = model::ParseMeshNetworks(mesh_networks, "networks.yaml");
  EXPECT_NE(mesh.mesh, nullptr) << mesh_config;
  EXPECT_NE(networks.networks, nullptr) << mesh_networks;
  return model::MakeSettings(mesh.mesh, networks.networks, "cluster.local", "Kubernetes");
}

}  // namespace

void Await(const std::function<bool()>& done, const char* what) {
  const auto end = Clock::now() + std::chrono::minutes(1);
  while (!done()) {
    ASSERT_LT(Clock::now(), end) << "no " << what;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class World::Model : public push::MeshModel {
 public:
  explicit Model(std::atomic<size_t>* nothings) : nothings_(nothings) {}
  mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings,
                           push::Reasons* changed) override {
    mesh::SnapshotPtr snapshot = model_.Update(changes, settings, changed);
    if (snapshot == nullptr) ++*nothings_;
    return snapshot;
  }
  std::vector<config::Diagnostic> Diagnostics() const override { return model_.Diagnostics(); }

 private:
  app::StoreMeshModel model_;
  std::atomic<size_t>* const nothings_;
};

World::World(std::string_view manifests, std::string_view mesh_config, bool shadow)
    : pusher_(MakeOptions(shadow), push::MakeGenerators()) {
  EXPECT_TRUE(SetLogLevels("error").ok());
  push::MeshThreadOptions options;
  options.debounce = {.quiet = {}, .max = {}};
  mesh_thread_ =
      std::make_unique<push::MeshThread>(options, std::make_unique<Model>(&nothings_),
                                         [this](mesh::SnapshotPtr snapshot, const push::Reasons& why) {
                                           pusher_.Publish(std::move(snapshot), why);
                                           ++publications_;
                                         });
  sink_ = mesh_thread_->AddSource("test");
  Change([&] {
    mesh_thread_->SetSettings(ParseSettings(mesh_config, ""));
    sink_->OnChanges(Parse(manifests, false));
    sink_->OnSynced();
    mesh_thread_->Start();
  });
}

World::~World() {
  mesh_thread_->Stop();
  pusher_.Stop();
}

ConnectedProxyPtr World::Connect(const Client& client, xds::Framing framing) {
  auto proxy = std::make_shared<ConnectedProxy>(client, framing);
  proxy->Connect(&pusher_);
  return proxy;
}

bool World::Apply(std::string_view manifests) { return Change(Parse(manifests, false)); }

bool World::Delete(std::string_view manifests) { return Change(Parse(manifests, true)); }

bool World::Change(std::vector<config::ObjectChange> changes) {
  return !changes.empty() && Change([&] { sink_->OnChanges(std::move(changes)); });
}

bool World::Set(std::string_view mesh_config, std::string_view mesh_networks) {
  return Change([&] { mesh_thread_->SetSettings(ParseSettings(mesh_config, mesh_networks)); });
}

bool World::Change(const std::function<void()>& change) {
  const size_t published = publications_, nothing = nothings_;
  change();
  Await([&] { return publications_ > published || nothings_ > nothing; }, "answer of the mesh thread");
  AwaitQuiet();
  return publications_ > published;
}

void World::AwaitQuiet() {
  Await([&] { return pusher_.BusyStreams() == 0; }, "end of it");
}

}  // namespace fairlead::updates
