// What a sidecar of a mesh of 1,000 services costs: reading the snapshot, building and encoding, and all of
// it once another sidecar of the namespace has been served.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/store.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"
#include "gen/generator.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "mesh/builder.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy_class.h"

namespace fairlead::gen {
namespace {

constexpr int kServices = 1000;
constexpr int kEndpointsEach = 5;

model::SettingsPtr MeshSettings() {
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
  mesh->mutable_enable_auto_mtls()->set_value(true);
  mesh->mutable_connect_timeout()->set_seconds(10);
  auto settings = std::make_shared<model::Settings>();
  settings->mesh = std::move(mesh);
  settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
  return settings;
}

model::ServiceEndpointsPtr EndpointsOf(int service) {
  auto all = std::make_shared<model::ServiceEndpoints>();
  all->service_accounts = {StrCat("spiffe://cluster.local/ns/shop/sa/s", service)};
  auto& shard = all->shards.emplace_back();
  shard.cluster = "Kubernetes";
  for (int i = 0; i < kEndpointsEach; ++i) {
    auto workload = std::make_shared<model::Workload>();
    workload->name = StrCat("s", service);
    workload->ns = "shop";
    workload->tls_mode = "istio";
    workload->cluster = "Kubernetes";
    model::Endpoint& endpoint = shard.endpoints.emplace_back();
    endpoint.addresses = {Interned(StrCat("10.", i, ".", service / 250, ".", service % 250))};
    endpoint.port_name = "http";
    endpoint.port = 8080;
    endpoint.workload = std::move(workload);
  }
  return all;
}

// 1,000 services of one port and five endpoints; every tenth has a rule with two subsets.
struct Mesh {
  Mesh() {
    model::RegistryOutput found;
    for (int i = 0; i < kServices; ++i) {
      auto service = std::make_shared<model::Service>();
      service->hostname = StrCat("s", i, ".shop.svc.cluster.local");
      service->name = StrCat("s", i);
      service->ns = "shop";
      auto& port = service->ports.emplace_back();
      port.name = "http";
      port.port = 80;
      port.protocol = model::Protocol::kHttp;
      found.endpoints[{service->hostname, service->ns}] = EndpointsOf(i);
      found.changes.endpoints.push_back({service->hostname, service->ns});
      found.services.Insert(std::move(service));
      if (i % 10 == 0) PutRule(i);
    }
    snapshot = builder.Build(store, found);
  }

  void PutRule(int service) {
    istio::networking::v1alpha3::DestinationRule rule;
    rule.set_host(StrCat("s", service, ".shop.svc.cluster.local"));
    for (const char* version : {"v1", "v2"}) {
      auto* subset = rule.add_subsets();
      subset->set_name(version);
      (*subset->mutable_labels())["version"] = version;
    }
    config::ObjectMeta meta;
    meta.name = StrCat("s", service);
    meta.ns = "shop";
    auto spec = std::make_shared<const istio::networking::v1alpha3::DestinationRule>(std::move(rule));
    const auto object = std::make_shared<config::ConfigObject>(
        config::Kind::kDestinationRule, std::move(meta), config::Origin{}, std::move(spec), service + 1);
    const config::ObjectChange change{config::KeyOf(*object), object};
    store.Apply(std::span(&change, 1));
  }

  mesh::ProxyScopePtr Sidecar(int number) const {
    auto proxy = std::make_shared<model::Proxy>();
    proxy->id = StrCat("client-", number, ".shop");
    proxy->ns = proxy->metadata.ns = "shop";
    proxy->ip_addresses = {StrCat("10.200.0.", number)};
    proxy->supports_ipv4 = true;
    proxy->metadata.cluster_id = "Kubernetes";
    proxy->metadata.labels = {{"app", StrCat("client-", number)}};
    proxy->proxy_class = model::ClassOf(*proxy);
    return mesh::ComputeProxyScope(*snapshot, proxy);
  }

  config::ObjectStore store;
  mesh::SnapshotBuilder builder{MeshSettings()};
  mesh::SnapshotPtr snapshot;
};

const Mesh& TheMesh() {
  static const auto* mesh = new Mesh;
  return *mesh;
}

std::vector<OutboundClusterInputs> CollectAll(const mesh::ProxyScope& scope) {
  mesh::View view({*TheMesh().snapshot, &scope});
  std::vector<OutboundClusterInputs> all;
  for (const model::ServicePtr& service : view.imports().services) {
    for (OutboundClusterInputs& inputs : CollectOutbound(view, service, CollectTraits(view), false))
      all.push_back(std::move(inputs));
  }
  return all;
}

void BM_CollectOutbound(benchmark::State& state) {
  const auto scope = TheMesh().Sidecar(1);
  for (auto _ : state) benchmark::DoNotOptimize(CollectAll(*scope));
}
BENCHMARK(BM_CollectOutbound)->Unit(benchmark::kMicrosecond);

void BM_BuildAndEncode(benchmark::State& state) {
  const auto scope = TheMesh().Sidecar(1);
  const auto inputs = CollectAll(*scope);
  for (auto _ : state) {
    for (const OutboundClusterInputs& in : inputs) {
      const auto cluster = BuildOutbound(in);
      benchmark::DoNotOptimize(Encode(cluster->name(), *cluster));
    }
  }
  state.counters["clusters"] = static_cast<double>(inputs.size());
}
BENCHMARK(BM_BuildAndEncode)->Unit(benchmark::kMicrosecond);

void BM_FirstSidecar(benchmark::State& state) {
  const auto scope = TheMesh().Sidecar(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(GenerateFor(*NewClusterGenerator(), *TheMesh().snapshot, *scope, nullptr));
  }
}
BENCHMARK(BM_FirstSidecar)->Unit(benchmark::kMicrosecond);

void BM_NextSidecar(benchmark::State& state) {
  const auto generator = NewClusterGenerator();
  int number = 0;
  GenerateFor(*generator, *TheMesh().snapshot, *TheMesh().Sidecar(0), nullptr);
  for (auto _ : state) {
    state.PauseTiming();
    const auto scope = TheMesh().Sidecar(++number % 250);
    state.ResumeTiming();
    benchmark::DoNotOptimize(GenerateFor(*generator, *TheMesh().snapshot, *scope, nullptr));
  }
}
BENCHMARK(BM_NextSidecar)->Unit(benchmark::kMicrosecond);

std::vector<std::string> ClusterNames() {
  std::vector<std::string> names;
  names.reserve(kServices);
  for (int i = 0; i < kServices; ++i) names.push_back(StrCat("outbound|80||s", i, ".shop.svc.cluster.local"));
  return names;
}

void BM_EndpointsFirstSidecar(benchmark::State& state) {
  const auto scope = TheMesh().Sidecar(1);
  const auto names = ClusterNames();
  for (auto _ : state) {
    benchmark::DoNotOptimize(GenerateFor(*NewEndpointGenerator(), *TheMesh().snapshot, *scope, &names));
  }
}
BENCHMARK(BM_EndpointsFirstSidecar)->Unit(benchmark::kMicrosecond);

void BM_EndpointsNextSidecar(benchmark::State& state) {
  const auto generator = NewEndpointGenerator();
  const auto names = ClusterNames();
  GenerateFor(*generator, *TheMesh().snapshot, *TheMesh().Sidecar(0), &names);
  const auto scope = TheMesh().Sidecar(2);
  for (auto _ : state) {
    benchmark::DoNotOptimize(GenerateFor(*generator, *TheMesh().snapshot, *scope, &names));
  }
}
BENCHMARK(BM_EndpointsNextSidecar)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::gen
