#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "gen/generator.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "mesh/builder.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy_class.h"
#include "model/registry_output.h"

namespace fairlead::gen {
namespace {

model::SettingsPtr BenchSettings() {
  auto settings = std::make_shared<model::Settings>();
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  mesh->set_proxy_listen_port(15001);
  mesh->set_proxy_inbound_listen_port(15006);
  mesh->set_enable_tracing(true);
  settings->mesh = std::move(mesh);
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

// Services with an HTTP, a TCP and an unnamed port each, in namespaces of 100.
model::RegistryOutput BenchServices(int count) {
  model::RegistryOutput registry;
  for (int i = 0; i < count; ++i) {
    auto service = std::make_shared<model::Service>();
    const std::string ns = StrCat("ns", i / 100), name = StrCat("service", i);
    service->hostname = StrCat(name, ".", ns, ".svc.cluster.local");
    service->name = name;
    service->ns = ns;
    service->address = StrCat("10.", 96 + i / 65536, ".", i / 256 % 256, ".", i % 256);
    service->cluster_vips = {service->address};
    service->ports.push_back({"http", 80, model::Protocol::kHttp, 8080, "", 0});
    service->ports.push_back({"tcp", 5432, model::Protocol::kTcp, 5432, "", 0});
    service->ports.push_back({"other", 9000, model::Protocol::kUnsupported, 9000, "", 0});
    registry.services.Insert(std::move(service));
  }
  return registry;
}

struct Mesh {
  explicit Mesh(int services) : builder(BenchSettings()), registry(BenchServices(services)) {
    snapshot = builder.Build(store, registry);
  }
  // A sidecar of its own workload, or, with one `workload` for all, of a replica.
  mesh::ProxyScopePtr Sidecar(int index, int workload) const {
    auto proxy = std::make_shared<model::Proxy>();
    proxy->ns = proxy->metadata.ns = "ns0";
    proxy->id = StrCat("pod-", index, ".ns0");
    proxy->domain = "ns0.svc.cluster.local";
    proxy->ip_addresses = {StrCat("10.1.", index / 256 % 256, ".", index % 256)};
    proxy->supports_ipv4 = true;
    proxy->metadata.cluster_id = "Kubernetes";
    proxy->metadata.labels = {{"service.istio.io/canonical-name", StrCat("workload", workload)}};
    proxy->proxy_class = model::ClassOf(*proxy);
    return mesh::ComputeProxyScope(*snapshot, proxy);
  }

  config::ObjectStore store;
  mesh::SnapshotBuilder builder;
  model::RegistryOutput registry;
  mesh::SnapshotPtr snapshot;
};

// Nothing is known yet: everything is collected, built and encoded.
void BM_Cold(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  const mesh::ProxyScopePtr scope = mesh.Sidecar(0, 0);
  for (auto _ : state) {
    const auto generator = NewListenerGenerator();
    benchmark::DoNotOptimize(GenerateFor(*generator, *mesh.snapshot, *scope, nullptr));
  }
  state.counters["per listener (us)"] =
      benchmark::Counter(2.0 * static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Cold)->Arg(1000)->Unit(benchmark::kMillisecond);

// A replica of a workload whose listeners are known.
void BM_Replica(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  const auto generator = NewListenerGenerator();
  benchmark::DoNotOptimize(GenerateFor(*generator, *mesh.snapshot, *mesh.Sidecar(0, 0), nullptr));
  int index = 0;
  std::vector<mesh::ProxyScopePtr> scopes;
  for (int i = 1; i <= 256; ++i) scopes.push_back(mesh.Sidecar(i, 0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(GenerateFor(*generator, *mesh.snapshot, *scopes[++index % 256], nullptr));
  }
}
BENCHMARK(BM_Replica)->Arg(1000)->Unit(benchmark::kMicrosecond);

// Another workload of the namespace: its connection managers carry its own name, the rest is known.
void BM_OtherWorkload(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  const auto generator = NewListenerGenerator();
  int index = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const mesh::ProxyScopePtr scope = mesh.Sidecar(index, index);
    ++index;
    state.ResumeTiming();
    benchmark::DoNotOptimize(GenerateFor(*generator, *mesh.snapshot, *scope, nullptr));
  }
}
BENCHMARK(BM_OtherWorkload)->Arg(1000)->Iterations(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::gen
