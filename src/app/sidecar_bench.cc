#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "app/bench_mesh.h"
#include "app/derivations.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "gen/generator.h"
#include "mesh/view/proxy_scope.h"
#include "model/proxy_class.h"
#include "state/mesh.h"
#include "xds/referred_names.h"

// Everything that one sidecar of a large mesh is sent: its clusters, endpoints, listeners and routes.
namespace fairlead::app {
namespace {

constexpr int kPerNamespace = 50;

// A service with an HTTP and a TCP port, five endpoints, and of every second one a VirtualService.
std::string ServiceManifests(int i) {
  const std::string meta = StrCat("metadata: {name: svc-", i, ", namespace: ns-", i / kPerNamespace);
  std::string out = StrCat("apiVersion: v1\nkind: Service\n", meta, "}\nspec: {clusterIP: 10.96.", i / 250,
                           ".", i % 250 + 1, ", ports: [{name: http, port: 80, targetPort: 8080}, ",
                           "{name: tcp, port: 5432, targetPort: 5432}]}\n---\n");
  StrAppend(&out, "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n", meta,
            ", labels: {kubernetes.io/service-name: svc-", i, "}}\naddressType: IPv4\n",
            "ports: [{name: http, port: 8080}, {name: tcp, port: 5432}]\nendpoints:\n");
  for (int k = 0; k < 5; ++k) {
    StrAppend(&out, "- {addresses: [10.", 10 + i / 250, ".", i % 250, ".", k + 1, "]}\n");
  }
  StrAppend(&out, "---\n");
  if (i % 2 == 0) {
    StrAppend(&out, "apiVersion: networking.istio.io/v1\nkind: VirtualService\n", meta,
              "}\nspec: {hosts: [svc-", i,
              "], http: [{match: [{uri: {prefix: /a}}], route: [{destination: {host: svc-", i,
              "}}], timeout: 5s}, {route: [{destination: {host: svc-", i, "}}]}]}\n---\n");
  }
  return out;
}

mesh::SnapshotPtr BuildMesh(state::Mesh* mesh, int services) {
  std::string text;
  for (int i = 0; i < services; ++i) text += ServiceManifests(i);
  std::vector<config::ObjectChange> changes;
  for (const config::ConfigPtr& object : config::ParseManifests(text, "bench.yaml").objects) {
    changes.push_back({config::KeyOf(*object), object});
  }
  return mesh->Apply(changes, BenchSettings()).snapshot;
}

model::ProxyPtr Sidecar(int index) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->ns = proxy->metadata.ns = "ns-0";
  proxy->id = StrCat("pod-", index, ".ns-0");
  proxy->domain = "ns-0.svc.cluster.local";
  proxy->ip_addresses = {StrCat("10.200.", index / 250 % 250, ".", index % 250 + 1)};
  proxy->supports_ipv4 = true;
  proxy->proxy_class = model::ClassOf(*proxy);
  return proxy;
}

class Generators {
 public:
  // The bytes of all that a sidecar is sent.
  size_t All(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy) {
    const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(snapshot, proxy);
    size_t bytes = 0;
    const auto count = [&](const std::vector<cache::ResourcePtr>& resources) {
      for (const cache::ResourcePtr& resource : resources) bytes += resource->any.size();
    };
    using xds::TypeId;
    const auto clusters = gen::GenerateFor(*clusters_, snapshot, *scope, nullptr);
    const auto listeners = gen::GenerateFor(*listeners_, snapshot, *scope, nullptr);
    const auto endpoints = xds::ReferredNames(clusters, TypeId::kEndpoint);
    const auto routes = xds::ReferredNames(listeners, TypeId::kRoute);
    count(clusters);
    count(listeners);
    count(gen::GenerateFor(*endpoints_, snapshot, *scope, &endpoints));
    count(gen::GenerateFor(*routes_, snapshot, *scope, &routes));
    return bytes;
  }

 private:
  std::unique_ptr<gen::Generator> clusters_ = gen::NewClusterGenerator(),
                                  endpoints_ = gen::NewEndpointGenerator(),
                                  listeners_ = gen::NewListenerGenerator(),
                                  routes_ = gen::NewRouteGenerator();
};

// The first sidecar of a mesh: nothing was made before.
void BM_FirstSidecar(benchmark::State& state) {
  state::Mesh made(MakeDerivations());
  const mesh::SnapshotPtr snapshot = BuildMesh(&made, static_cast<int>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) {
    Generators generators;
    bytes = generators.All(*snapshot, Sidecar(0));
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_FirstSidecar)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

// Another workload of the namespace.
void BM_NextSidecar(benchmark::State& state) {
  state::Mesh made(MakeDerivations());
  const mesh::SnapshotPtr snapshot = BuildMesh(&made, static_cast<int>(state.range(0)));
  Generators generators;
  int index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(generators.All(*snapshot, Sidecar(++index)));
}
BENCHMARK(BM_NextSidecar)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::app
