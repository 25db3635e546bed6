#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "mesh/builder.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy.h"
#include "model/proxy_class.h"

namespace fairlead::mesh {
namespace {

model::SettingsPtr DefaultSettings() {
  auto settings = std::make_shared<model::Settings>();
  settings->mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

// A mesh of namespaces with 100 services each, every tenth with a VirtualService and a DestinationRule.
struct Mesh {
  explicit Mesh(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string ns = StrCat("ns", i / 100), name = StrCat("service", i);
      auto service = std::make_shared<model::Service>();
      service->hostname = StrCat(name, ".", ns, ".svc.cluster.local");
      service->name = name;
      service->ns = ns;
      service->selector = {{"app", name}, {"managed-by", "helm"}};
      service->ports.resize(2);
      service->ports[0].port = 80;
      service->ports[1].port = 9090;
      registry.services.Insert(service);
      services.push_back(service);
      config::ServiceSpec spec;
      spec.selector = service->selector;
      spec.ports.resize(1);
      service->source = Put(config::Kind::kService, ns, name, spec);
      AddPod(ns, name);
      registry.endpoints[{service->hostname, service->ns}] = std::make_shared<model::ServiceEndpoints>();
      if (i % 10 == 0) AddRouting(ns, name);
    }
  }

  void AddPod(const std::string& ns, const std::string& app) {
    model::WorkloadInstance pod;
    pod.name = StrCat(app, "-1");
    model::Workload workload;
    workload.ns = ns;
    pod.workload = std::make_shared<const model::Workload>(std::move(workload));
    pod.addresses = {StrCat("10.0.", pods / 256, ".", pods % 256)};
    pod.sources = {Put(config::Kind::kPod, ns, pod.name.str(), config::PodSpec(),
                       {{"app", app}, {"managed-by", "helm"}})};
    registry.workloads.Insert(std::make_shared<const model::WorkloadInstance>(std::move(pod)));
    ++pods;
  }

  void AddRouting(const std::string& ns, const std::string& name) {
    istio::networking::v1alpha3::VirtualService routes;
    routes.add_hosts(name);
    routes.add_http()->add_route()->mutable_destination()->set_host(name);
    Put(config::Kind::kVirtualService, ns, name, routes);
    istio::networking::v1alpha3::DestinationRule rule;
    rule.set_host(name);
    Put(config::Kind::kDestinationRule, ns, name, rule);
  }

  template <typename Spec>
  config::ConfigPtr Put(config::Kind kind, const std::string& ns, const std::string& name, const Spec& spec,
                        LabelMap labels = {}) {
    config::ObjectMeta meta;
    meta.labels = std::move(labels);
    meta.name = name;
    meta.ns = ns;
    config::ObjectChange change{
        {kind, ns, name},
        std::make_shared<config::ConfigObject>(kind, meta, config::Origin{},
                                               std::make_shared<const Spec>(spec), ++hash)};
    store.Apply(std::span(&change, 1));
    return change.object;
  }

  uint64_t hash = 0;
  config::ObjectStore store;
  model::RegistryOutput registry;
  std::vector<model::ServicePtr> services;
  int pods = 0;
};

void BM_FirstBuild(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(SnapshotBuilder(DefaultSettings()).Build(mesh.store, mesh.registry));
}
BENCHMARK(BM_FirstBuild)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void BM_EndpointChange(benchmark::State& state) {
  Mesh mesh(static_cast<int>(state.range(0)));
  SnapshotBuilder builder(DefaultSettings());
  SnapshotPtr snapshot = builder.Build(mesh.store, mesh.registry);
  mesh.registry.changes = {};
  const auto service = mesh.services[5];
  mesh.registry.changes.endpoints = {{service->hostname, service->ns}};
  for (auto _ : state) {
    mesh.registry.endpoints[mesh.registry.changes.endpoints[0]] = std::make_shared<model::ServiceEndpoints>();
    snapshot = builder.Build(mesh.store, mesh.registry);
  }
}
BENCHMARK(BM_EndpointChange)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void BM_RouteChange(benchmark::State& state) {
  Mesh mesh(static_cast<int>(state.range(0)));
  SnapshotBuilder builder(DefaultSettings());
  SnapshotPtr snapshot = builder.Build(mesh.store, mesh.registry);
  mesh.registry.changes = {};
  for (auto _ : state) {
    mesh.AddRouting("ns0", "service0");
    snapshot = builder.Build(mesh.store, mesh.registry);
  }
}
BENCHMARK(BM_RouteChange)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

model::ProxyPtr MakeProxy(const std::string& ns) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->id = StrCat("service5-1.", ns);
  proxy->ns = proxy->metadata.ns = ns;
  proxy->ip_addresses = {"10.0.0.5"};
  proxy->proxy_class = model::ClassOf(*proxy);
  return proxy;
}

void BM_DefaultScope(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  SnapshotBuilder builder(DefaultSettings());
  const SnapshotPtr snapshot = builder.Build(mesh.store, mesh.registry);
  int i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(ComputeProxyScope(*snapshot, MakeProxy(StrCat("client", i++))));
}
BENCHMARK(BM_DefaultScope)->Arg(1000)->Arg(5000)->Arg(10000)->Unit(benchmark::kMicrosecond)->Iterations(20);

void BM_SidecarScope(benchmark::State& state) {
  Mesh mesh(static_cast<int>(state.range(0)));
  istio::networking::v1alpha3::Sidecar sidecar;
  auto* egress = sidecar.add_egress();
  egress->add_hosts("./*");
  for (int i = 0; i < 10; ++i) egress->add_hosts(StrCat("ns5/service", 500 + i, ".ns5.svc.cluster.local"));
  mesh.Put(config::Kind::kSidecar, "istio-system", "default", sidecar);
  SnapshotBuilder builder(DefaultSettings());
  const SnapshotPtr snapshot = builder.Build(mesh.store, mesh.registry);
  int i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(ComputeProxyScope(*snapshot, MakeProxy(StrCat("client", i++))));
}
BENCHMARK(BM_SidecarScope)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond)->Iterations(50);

void BM_ProxyScope(benchmark::State& state) {
  const Mesh mesh(static_cast<int>(state.range(0)));
  SnapshotBuilder builder(DefaultSettings());
  const SnapshotPtr snapshot = builder.Build(mesh.store, mesh.registry);
  const model::ProxyPtr proxy = MakeProxy("ns0");
  for (auto _ : state) benchmark::DoNotOptimize(ComputeProxyScope(*snapshot, proxy));
}
BENCHMARK(BM_ProxyScope)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::mesh
