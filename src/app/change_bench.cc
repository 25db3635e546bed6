#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/bench_mesh.h"
#include "app/derivations.h"
#include "gen/generator.h"
#include "mesh/view/proxy_scope.h"
#include "push/stream/part_cache.h"
#include "state/mesh.h"

// What one change of a large mesh costs: 100 namespaces, each with a Sidecar that imports itself only, 10,000
// services with five endpoints each, and of each namespace one sidecar that has its configuration.
namespace fairlead::app {
namespace {

constexpr int kNamespaces = 100, kServices = 10000;

constexpr BenchMesh kMesh{kNamespaces, kServices, true};

// A sidecar with what it was sent: clusters, endpoints, listeners and routes.
struct Client {
  model::ProxyPtr proxy;
  mesh::ProxyScopePtr scope;
  std::array<push::LastResources, xds::kTypeCount> made;
  std::array<xds::NameSetPtr, xds::kTypeCount> names;
};

class World {
 public:
  World() {
    for (xds::TypeId type : kOrder) generators_[static_cast<size_t>(type)] = New(type);
    for (int ns = 0; ns < kNamespaces; ++ns) clients_.push_back(NewClient(ns));
    Publish(ParseChanges(kMesh.Whole()), BenchSettings());
    for (Client& client : clients_) Connect(&client);
  }

  void Publish(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings) {
    if (mesh::SnapshotPtr snapshot = mesh_.Apply(changes, settings).snapshot) snapshot_ = std::move(snapshot);
  }

  // Brings every client to the newest snapshot. How many clients' resources are others now.
  int Push() {
    int changed = 0;
    for (Client& client : clients_) {
      client.scope = mesh::ComputeProxyScope(*snapshot_, client.proxy, client.scope);
      bool differs = false;
      for (xds::TypeId type : kOrder) {
        const xds::ResourceSetPtr before = client.made[static_cast<size_t>(type)].set;
        differs |= Make(type, &client)->hash() != before->hash();
      }
      changed += differs ? 1 : 0;
    }
    return changed;
  }

  // Unlike any before, so that each change changes something.
  int NextStep() { return ++step_; }

  void Sweep() {
    const Clock::time_point now = Clock::now();
    for (const auto& generator : generators_) {
      if (generator != nullptr) generator->Sweep(now);
    }
    parts_.Sweep(now);
  }

 private:
  static constexpr xds::TypeId kOrder[] = {xds::TypeId::kCluster, xds::TypeId::kEndpoint,
                                           xds::TypeId::kListener, xds::TypeId::kRoute};

  static std::unique_ptr<gen::Generator> New(xds::TypeId type) {
    switch (type) {
      case xds::TypeId::kCluster:
        return gen::NewClusterGenerator();
      case xds::TypeId::kEndpoint:
        return gen::NewEndpointGenerator();
      case xds::TypeId::kListener:
        return gen::NewListenerGenerator();
      default:
        return gen::NewRouteGenerator();
    }
  }

  static Client NewClient(int ns) {
    Client client;
    client.proxy = BenchProxy(ns, ns);
    return client;
  }

  // Subscribes to what its clusters and listeners refer to.
  void Connect(Client* client) {
    client->scope = mesh::ComputeProxyScope(*snapshot_, client->proxy);
    for (const auto& [holder, held] : {std::pair{xds::TypeId::kCluster, xds::TypeId::kEndpoint},
                                       std::pair{xds::TypeId::kListener, xds::TypeId::kRoute}}) {
      std::vector<std::string_view> names;
      const xds::ResourceSetPtr all = Make(holder, client);
      for (const xds::ResourceListPtr& part : all->parts()) {
        for (const cache::Reference& reference : part->References()) {
          if (reference.type == held) names.push_back(reference.name);
        }
      }
      client->names[static_cast<size_t>(held)] = xds::NameSet::Of(std::move(names));
      Make(held, client);
    }
  }

  xds::ResourceSetPtr Make(xds::TypeId type, Client* client) {
    const auto slot = static_cast<size_t>(type);
    return parts_.Make(*generators_[slot], {*snapshot_, client->scope.get()}, client->names[slot],
                       &client->made[slot]);
  }

  push::Generators generators_;
  state::Mesh mesh_{MakeDerivations()};
  int step_ = 0;
  mesh::SnapshotPtr snapshot_;
  push::PartCache parts_;
  std::vector<Client> clients_;
};

World& SharedWorld() {
  static auto* const world = new World;
  return *world;
}

// From the change to the snapshot, and on until what every sidecar is to get is ready to be sent: of a
// hundred namespaces the change concerns one.
void BM_Change(benchmark::State& state, std::string (*change)(int step)) {
  World& world = SharedWorld();
  int concerned = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<config::ObjectChange> changes = ParseChanges(change(world.NextStep()));
    state.ResumeTiming();
    world.Publish(changes, nullptr);
    concerned = world.Push();
    state.PauseTiming();
    world.Sweep();
    state.ResumeTiming();
  }
  state.counters["sidecars concerned"] = concerned;
}

// The part of it that is done before the first sidecar is looked at.
void BM_Publication(benchmark::State& state, std::string (*change)(int step)) {
  World& world = SharedWorld();
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<config::ObjectChange> changes = ParseChanges(change(world.NextStep()));
    state.ResumeTiming();
    world.Publish(changes, nullptr);
    state.PauseTiming();
    world.Push();
    world.Sweep();
    state.ResumeTiming();
  }
}

std::string ChangeEndpoint(int step) { return kMesh.EndpointSlice(0, 1 + step % 5); }
std::string ChangeRoute(int step) { return kMesh.Route(0, 2 + step % 50); }
std::string ChangeRule(int step) { return kMesh.Rule(0, 2 + step % 50); }
std::string AddService(int step) {
  const int fresh = kServices + step * kNamespaces;
  return kMesh.Service(fresh) + kMesh.EndpointSlice(fresh, 1);
}

#define FAIRLEAD_CHANGE_BENCHMARK(name, change)                                   \
  BENCHMARK_CAPTURE(BM_Publication, name, change)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(BM_Change, name, change)->Unit(benchmark::kMillisecond)
FAIRLEAD_CHANGE_BENCHMARK(endpoint, ChangeEndpoint);
FAIRLEAD_CHANGE_BENCHMARK(route, ChangeRoute);
FAIRLEAD_CHANGE_BENCHMARK(rule, ChangeRule);
FAIRLEAD_CHANGE_BENCHMARK(service, AddService);

}  // namespace
}  // namespace fairlead::app
