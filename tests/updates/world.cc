#include "tests/updates/world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "app/derivations.h"
#include "base/log.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "mesh/view/proxy_scope.h"
#include "model/mesh_config.h"
#include "push/stream/generators.h"

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

World::World(std::string_view manifests, std::string_view mesh_config, bool shadow)
    : pusher_(MakeOptions(shadow), push::MakeGenerators()),
      loop_({.debounce = {.quiet = {}, .max = {}}}, app::MakeDerivations()) {
  EXPECT_TRUE(SetLogLevels("error").ok());
  loop_.AddObserver([this](const push::Publication& now) {
    pusher_.Publish(now.snapshot, now.reasons);
    ++publications_;
  });
  sink_ = loop_.AddSource("test");
  Change([&] {
    loop_.Set(ParseSettings(mesh_config, ""));
    sink_->OnChanges(Parse(manifests, false));
    sink_->OnSynced();
    loop_.Start();
  });
}

World::~World() {
  loop_.Stop();
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
  return Change([&] { loop_.Set(ParseSettings(mesh_config, mesh_networks)); });
}

bool World::Change(const std::function<void()>& change) {
  const size_t published = publications_;
  const uint64_t rounds = loop_.rounds();
  change();
  Await([&] { return loop_.rounds() > rounds; }, "round of the control loop");
  AwaitQuiet();
  return publications_ > published;
}

void World::AwaitQuiet() {
  Await([&] { return pusher_.BusyStreams() == 0; }, "end of it");
}

}  // namespace fairlead::updates
