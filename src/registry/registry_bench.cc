// How long the registries take for a mesh of services with five pods each: all at once, and one changed
// endpoint.
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "benchmark/benchmark.h"
#include "config/kubernetes_types.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "registry/registry.h"

namespace fairlead::registry {
namespace {

using config::ConfigObject;
using config::Kind;

constexpr int kPodsOfAService = 5;
uint64_t next_hash = 1;  // every object made is a new one

template <typename Spec>
config::ObjectChange Object(Kind kind, std::string_view ns, std::string_view name, LabelMap labels,
                            Spec spec) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = ns;
  meta.labels = std::move(labels);
  auto object = std::make_shared<const ConfigObject>(
      kind, std::move(meta), config::Origin(), std::make_shared<const Spec>(std::move(spec)), next_hash++);
  return {config::KeyOf(*object), object};
}

std::string Address(int service, int pod) {
  return StrCat("10.", service / 250, ".", service % 250, ".", pod + 1);
}

config::ObjectChange Slice(int service, int endpoints) {
  config::EndpointSliceSpec spec;
  spec.ports.push_back({"http", "TCP", 8080, std::nullopt});
  const std::string ns = StrCat("ns-", service % 100), name = StrCat("svc-", service);
  for (int i = 0; i < endpoints; ++i) {
    config::SliceEndpoint endpoint;
    endpoint.addresses = {Address(service, i)};
    endpoint.target = config::TargetReference{"Pod", ns, StrCat(name, "-", i)};
    spec.endpoints.push_back(std::move(endpoint));
  }
  return Object(Kind::kEndpointSlice, ns, name, {{"kubernetes.io/service-name", name}}, std::move(spec));
}

std::vector<config::ObjectChange> Mesh(int services) {
  std::vector<config::ObjectChange> objects;
  for (int i = 0; i < services; ++i) {
    const std::string ns = StrCat("ns-", i % 100), name = StrCat("svc-", i);
    config::ServiceSpec service;
    service.cluster_ip = StrCat("172.16.", i / 250, ".", i % 250);
    service.selector = {{"app", name}};
    service.ports.push_back({"http", "TCP", std::nullopt, 80, {8080, ""}, 0});
    objects.push_back(Object(Kind::kService, ns, name, {}, std::move(service)));
    for (int p = 0; p < kPodsOfAService; ++p) {
      config::PodSpec pod;
      pod.node_name = StrCat("node-", i % 50);
      pod.pod_ip = Address(i, p);
      pod.ready = true;
      objects.push_back(Object(Kind::kPod, ns, StrCat(name, "-", p),
                               {{"app", name}, {"version", "v1"}, {"security.istio.io/tlsMode", "istio"}},
                               std::move(pod)));
    }
    objects.push_back(Slice(i, kPodsOfAService));
  }
  return objects;
}

model::SettingsPtr DefaultSettings() {
  auto settings = std::make_shared<model::Settings>();
  settings->mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

void BM_EverythingAtOnce(benchmark::State& state) {
  const model::SettingsPtr settings = DefaultSettings();
  config::ObjectStore store;
  const auto changes = store.Apply(Mesh(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    Registries registries;
    benchmark::DoNotOptimize(registries.Apply(store, changes, settings).services.size());
  }
}
BENCHMARK(BM_EverythingAtOnce)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void BM_OneEndpointChanges(benchmark::State& state) {
  const model::SettingsPtr settings = DefaultSettings();
  config::ObjectStore store;
  Registries registries;
  const int services = static_cast<int>(state.range(0));
  registries.Apply(store, store.Apply(Mesh(services)), settings);
  int round = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto changes = store.Apply(std::vector{Slice(round % services, kPodsOfAService - 1 - round % 2)});
    ++round;
    state.ResumeTiming();
    benchmark::DoNotOptimize(registries.Apply(store, changes, settings).changes.endpoints.size());
  }
}
BENCHMARK(BM_OneEndpointChanges)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void BM_OnePodChanges(benchmark::State& state) {
  const model::SettingsPtr settings = DefaultSettings();
  config::ObjectStore store;
  Registries registries;
  registries.Apply(store, store.Apply(Mesh(10000)), settings);
  int round = 0;
  for (auto _ : state) {
    state.PauseTiming();
    config::PodSpec pod;
    pod.pod_ip = Address(7, 0);
    pod.ready = true;
    const auto changes = store.Apply(
        std::vector{Object(Kind::kPod, "ns-7", "svc-7-0",
                           {{"app", "svc-7"}, {"version", StrCat("v", ++round)}}, std::move(pod))});
    state.ResumeTiming();
    benchmark::DoNotOptimize(registries.Apply(store, changes, settings).changes.endpoints.size());
  }
}
BENCHMARK(BM_OnePodChanges)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::registry
