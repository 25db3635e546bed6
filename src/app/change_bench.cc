#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/bench_settings.h"
#include "app/mesh_model.h"
#include "base/strings.h"
#include "config/manifests.h"
#include "gen/generator.h"
#include "mesh/proxy_scope.h"
#include "model/proxy_class.h"
#include "push/part_cache.h"

// What one change of a large mesh costs: 100 namespaces, each with a Sidecar that imports itself only, 10,000
// services with five endpoints each, and of each namespace one sidecar that has its configuration.
namespace fairlead::app {
namespace {

constexpr int kNamespaces = 100, kServices = 10000;

std::string NameOf(int service) { return StrCat("svc-", service); }
std::string NamespaceOf(int service) { return StrCat("ns-", service % kNamespaces); }
std::string MetaOf(int service, std::string_view more = "") {
  return StrCat("metadata: {name: ", NameOf(service), ", namespace: ", NamespaceOf(service), more, "}\n");
}

std::string Address(int service, int endpoint) {
  const int number = service * 5 + endpoint;
  return StrCat("10.", number / 62500, ".", number / 250 % 250, ".", number % 250 + 1);
}

std::string Service(int i) {
  return StrCat("apiVersion: v1\nkind: Service\n", MetaOf(i), "spec: {clusterIP: 10.96.", i / 250, ".",
                i % 250 + 1, ", selector: {app: ", NameOf(i),
                "}, ports: [{name: http, port: 80, targetPort: 8080}, {name: grpc, port: 9090}, ",
                "{name: tcp, port: 5432}]}\n---\n");
}

std::string EndpointSlice(int i, int endpoints) {
  std::string out = StrCat("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n",
                           MetaOf(i, StrCat(", labels: {kubernetes.io/service-name: ", NameOf(i), "}")),
                           "addressType: IPv4\nports: [{name: http, port: 8080}, {name: grpc, port: 9090}, ",
                           "{name: tcp, port: 5432}]\nendpoints:\n");
  for (int k = 0; k < endpoints; ++k) StrAppend(&out, "- {addresses: [", Address(i, k), "]}\n");
  return StrCat(out, "---\n");
}

std::string Route(int i, int seconds) {
  const std::string host = StrCat(NameOf(i), ".", NamespaceOf(i), ".svc.cluster.local");
  return StrCat("apiVersion: networking.istio.io/v1\nkind: VirtualService\n", MetaOf(i), "spec: {hosts: [",
                host, "], http: [{timeout: ", seconds, "s, route: [{destination: {host: ", host,
                ", subset: v1}}]}]}\n---\n");
}

std::string Rule(int i, int connections) {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: DestinationRule\n", MetaOf(i),
                "spec: {host: ", NameOf(i), ".", NamespaceOf(i),
                ".svc.cluster.local, trafficPolicy: {connectionPool: {tcp: ", "{maxConnections: ",
                connections, "}}}, subsets: [{name: v1, labels: {version: v1}}]}\n---\n");
}

std::string Sidecar(int ns) {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: ns-",
                ns, "}\nspec: {egress: [{hosts: [./*, istio-system/*]}]}\n---\n");
}

std::vector<config::ObjectChange> Parse(const std::string& manifests) {
  std::vector<config::ObjectChange> changes;
  for (const config::ConfigPtr& object : config::ParseManifests(manifests, "bench.yaml").objects) {
    changes.push_back({config::KeyOf(*object), object});
  }
  return changes;
}

std::vector<config::ObjectChange> WholeMesh() {
  std::string text;
  for (int ns = 0; ns < kNamespaces; ++ns) text += Sidecar(ns);
  for (int i = 0; i < kServices; ++i) {
    text += Service(i) + EndpointSlice(i, 5);
    if (i / kNamespaces % 2 == 0) text += Route(i, 1) + Rule(i, 1);
  }
  return Parse(text);
}

// A sidecar with what it was sent: clusters, endpoints, listeners and routes.
struct Client {
  model::ProxyPtr proxy;
  mesh::ProxyScopePtr scope;
  std::array<push::Made, xds::kTypeCount> made;
  std::array<xds::NameSetPtr, xds::kTypeCount> names;
};

class World {
 public:
  World() {
    for (xds::TypeId type : kOrder) generators_[static_cast<size_t>(type)] = New(type);
    for (int ns = 0; ns < kNamespaces; ++ns) clients_.push_back(NewClient(ns));
    Publish(WholeMesh(), BenchSettings());
    for (Client& client : clients_) Connect(&client);
  }

  void Publish(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings) {
    push::Reasons reasons;
    mesh::SnapshotPtr snapshot = model_.Update(changes, settings, &reasons);
    snapshot_ = std::move(snapshot);
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
    auto proxy = std::make_shared<model::Proxy>();
    proxy->ns = proxy->metadata.ns = StrCat("ns-", ns);
    proxy->id = StrCat("client.ns-", ns);
    proxy->domain = StrCat("ns-", ns, ".svc.cluster.local");
    proxy->ip_addresses = {StrCat("10.200.0.", ns + 1)};
    proxy->supports_ipv4 = true;
    proxy->cls = model::ClassOf(*proxy);
    Client client;
    client.proxy = std::move(proxy);
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
  StoreMeshModel model_;
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
    const std::vector<config::ObjectChange> changes = Parse(change(world.NextStep()));
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
    const std::vector<config::ObjectChange> changes = Parse(change(world.NextStep()));
    state.ResumeTiming();
    world.Publish(changes, nullptr);
    state.PauseTiming();
    world.Push();
    world.Sweep();
    state.ResumeTiming();
  }
}

std::string ChangeEndpoint(int step) { return EndpointSlice(0, 1 + step % 5); }
std::string ChangeRoute(int step) { return Route(0, 2 + step % 50); }
std::string ChangeRule(int step) { return Rule(0, 2 + step % 50); }
std::string AddService(int step) {
  const int fresh = kServices + step * kNamespaces;
  return Service(fresh) + EndpointSlice(fresh, 1);
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
