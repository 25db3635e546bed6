#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "state/mesh.h"

// What a second mesh costs, made of a live one of 10,000 services with five pods each by one changed object.
namespace fairlead::state {
namespace {

constexpr int kNamespaces = 100, kServices = 10000, kPods = 5;

std::string Meta(int service, std::string_view name, std::string_view more = "") {
  return StrCat("metadata: {name: ", name, ", namespace: ns-", service % kNamespaces, more, "}\n");
}

std::string ServiceWithPods(int i) {
  const std::string name = StrCat("svc-", i);
  std::string text = StrCat("apiVersion: v1\nkind: Service\n", Meta(i, name), "spec: {clusterIP: 10.96.",
                            i / 250, ".", i % 250 + 1, ", selector: {app: ", name,
                            "}, ports: [{name: http, port: 80}, {name: grpc, port: 9090}]}\n---\n");
  std::string slice = StrCat(
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n",
      Meta(i, name, StrCat(", labels: {kubernetes.io/service-name: ", name, "}")),
      "addressType: IPv4\nports: [{name: http, port: 8080}, {name: grpc, port: 9090}]\n", "endpoints:\n");
  for (int p = 0; p < kPods; ++p) {
    const int number = i * kPods + p;
    const std::string pod = StrCat(name, "-", p);
    const std::string ip = StrCat("10.", number / 62500, ".", number / 250 % 250, ".", number % 250 + 1);
    StrAppend(&text, "apiVersion: v1\nkind: Pod\n", Meta(i, pod, StrCat(", labels: {app: ", name, "}")),
              "spec: {nodeName: node-", i % 50, "}\nstatus: {phase: Running, podIP: ", ip,
              ", conditions: [{type: Ready, status: 'True'}]}\n---\n");
    StrAppend(&slice, "- {addresses: [", ip, "], targetRef: {kind: Pod, namespace: ns-", i % kNamespaces,
              ", name: ", pod, "}}\n");
  }
  return StrCat(text, slice, "---\n");
}

std::string Route(int i, int seconds) {
  const std::string host = StrCat("svc-", i, ".ns-", i % kNamespaces, ".svc.cluster.local");
  return StrCat("apiVersion: networking.istio.io/v1\nkind: VirtualService\n", Meta(i, StrCat("svc-", i)),
                "spec: {hosts: [", host, "], http: [{timeout: ", seconds,
                "s, route: [{destination: {host: ", host,
                "}}]}]}\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\n",
                Meta(i, StrCat("svc-", i)), "spec: {host: ", host, "}\n---\n");
}

std::vector<config::ObjectChange> Parse(const std::string& manifests) {
  std::vector<config::ObjectChange> changes;
  for (const config::ConfigPtr& object : config::ParseManifests(manifests, "bench.yaml").objects)
    changes.push_back({config::KeyOf(*object), object});
  return changes;
}

size_t Allocated() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

struct Live {
  Live() {
    std::vector<config::ObjectChange> all;
    for (int i = 0; i < kServices; ++i) {
      for (auto& change : Parse(ServiceWithPods(i) + (i % 2 == 0 ? Route(i, 1) : ""))) all.push_back(change);
    }
    mesh.Apply(all, model::MakeSettings(nullptr, model::ParseMeshNetworks("", "networks.yaml").networks,
                                        "cluster.local", "Kubernetes"));
  }
  const size_t before = Allocated();
  Mesh mesh;
};

// Copied and changed by one object, `change`.
void SecondMesh(benchmark::State& state, const std::vector<config::ObjectChange>& change) {
  static auto* live = new Live();
  static const size_t of_live = Allocated() - live->before;
  size_t more = 0;
  for (auto _ : state) {
    const size_t before = Allocated();
    auto second = std::make_unique<Mesh>(live->mesh);
    second->Apply(change, nullptr);
    more = Allocated() - before;
  }
  state.counters["live_MB"] = static_cast<double>(of_live) / 1e6;
  state.counters["more_KB"] = static_cast<double>(more) / 1e3;
  state.counters["more_percent"] = 100.0 * static_cast<double>(more) / static_cast<double>(of_live);
}

void BM_SecondMeshRoute(benchmark::State& state) { SecondMesh(state, {Parse(Route(0, 2))[0]}); }
void BM_SecondMeshRule(benchmark::State& state) {
  SecondMesh(state, {Parse(ReplaceAll(Route(0, 2), "local}\n", "local, subsets: [{name: v1}]}\n"))[1]});
}
void BM_SecondMeshService(benchmark::State& state) {
  SecondMesh(state, {Parse(ReplaceAll(ServiceWithPods(0), "port: 80}", "port: 81}"))[0]});
}
void BM_SecondMeshPod(benchmark::State& state) {
  SecondMesh(state, {Parse(ReplaceAll(ServiceWithPods(0), "labels: {", "labels: {version: v2, "))[1]});
}
BENCHMARK(BM_SecondMeshRoute)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SecondMeshRule)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SecondMeshService)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SecondMeshPod)->Unit(benchmark::kMillisecond);

// A change of the live mesh itself, with nobody who holds a copy.
void BM_LiveRoute(benchmark::State& state) {
  static auto* live = new Live();
  int seconds = 1;
  for (auto _ : state) {
    state.PauseTiming();
    const auto change = Parse(Route(0, ++seconds));
    state.ResumeTiming();
    live->mesh.Apply(change, nullptr);
  }
}
BENCHMARK(BM_LiveRoute)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::state
