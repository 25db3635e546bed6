#include <benchmark/benchmark.h>

#include <string>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/yaml.h"

// How fast manifests are read, in bytes per second and objects per second. Texts are like those of a mesh:
// flow and block style, small documents.
namespace fairlead::config {
namespace {

std::string Service(int i) {
  return StrCat("---\napiVersion: v1\nkind: Service\nmetadata: {name: svc-", i, ", namespace: ns-", i % 20,
                ", labels: {app: svc-", i, "}}\nspec:\n  clusterIP: 10.100.", i / 250, ".", i % 250,
                "\n  selector: {app: svc-", i,
                "}\n  ports:\n  - {name: http, port: 80, targetPort: 8080, protocol: TCP}\n"
                "  - {name: grpc, port: 9090, targetPort: 9090, protocol: TCP}\n");
}

std::string Pod(int i) {
  return StrCat("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: svc-", i, "-0\n  namespace: ns-", i % 20,
                "\n  labels:\n    app: svc-", i,
                "\n    version: v1\nspec:\n  serviceAccountName: default\n  containers:\n  - name: app\n    "
                "image: app\n"
                "    ports:\n    - containerPort: 8080\n    - containerPort: 9090\nstatus:\n  phase: "
                "Running\n  podIP: 10.0.",
                i / 250, ".", i % 250,
                "\n  conditions:\n  - type: Ready\n    status: \"True\"\n    lastTransitionTime: "
                "\"2026-01-01T00:00:00Z\"\n");
}

std::string EndpointSlice(int i) {
  std::string text =
      StrCat("---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: svc-", i,
             "-abc\n  namespace: ns-", i % 20, "\n  labels: {kubernetes.io/service-name: svc-", i,
             "}\naddressType: IPv4\nports:\n- {name: http, port: 8080, protocol: TCP}\nendpoints:\n");
  for (int e = 0; e < 5; ++e) {
    StrAppend(&text, "- addresses: [10.", e, ".", i / 250, ".", i % 250,
              "]\n  conditions: {ready: true, serving: true, terminating: false}\n  targetRef: {kind: Pod, "
              "name: svc-",
              i, "-", e, ", namespace: ns-", i % 20, "}\n");
  }
  return text;
}

std::string VirtualService(int i) {
  return StrCat("---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: svc-", i,
                "\n  namespace: ns-", i % 20, "\nspec:\n  hosts:\n  - svc-", i,
                "\n  http:\n  - match:\n    - uri:\n        prefix: /api\n      headers:\n        x-user: "
                "{exact: tester}\n"
                "    timeout: 5s\n    retries: {attempts: 3, perTryTimeout: 2s, retryOn: 5xx}\n    route:\n"
                "    - destination: {host: svc-",
                i,
                ", subset: v1, port: {number: 80}}\n      weight: 75\n"
                "    - destination: {host: svc-",
                i, ", subset: v2, port: {number: 80}}\n      weight: 25\n");
}

std::string DestinationRule(int i) {
  return StrCat(
      "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata:\n  name: svc-", i,
      "\n  namespace: ns-", i % 20, "\nspec:\n  host: svc-", i,
      "\n  trafficPolicy:\n    loadBalancer: {simple: LEAST_REQUEST}\n    connectionPool:\n"
      "      tcp: {maxConnections: 100, connectTimeout: 2s}\n    outlierDetection: {interval: 10s}\n"
      "  subsets:\n  - {name: v1, labels: {version: v1}}\n  - {name: v2, labels: {version: v2}}\n");
}

std::string ServiceEntry(int i) {
  return StrCat("---\napiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata:\n  name: svc-", i,
                "\n  namespace: ns-", i % 20, "\nspec:\n  hosts: [svc-", i,
                ".example.com]\n  addresses: [10.200.", i / 250, ".", i % 250,
                "]\n  location: MESH_INTERNAL\n  resolution: STATIC\n"
                "  ports: [{number: 80, name: http, protocol: HTTP}]\n  endpoints:\n"
                "  - {address: 10.1.0.1, labels: {app: a}}\n  - {address: 10.1.0.2, labels: {app: a}}\n");
}

std::string HttpRoute(int i) {
  return StrCat("---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: svc-", i,
                "\n  namespace: ns-", i % 20, "\nspec:\n  parentRefs: [{name: gateway}]\n  hostnames: [svc-",
                i,
                ".example.com]\n  rules:\n  - matches:\n    - path: {type: PathPrefix, value: /api}\n"
                "    timeouts: {request: 5s}\n    backendRefs:\n    - {name: svc-v1, port: 80, weight: 75}\n"
                "    - {name: svc-v2, port: 80, weight: 25}\n");
}

std::string Repeat(std::string (*make)(int), int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += make(i);
  return text;
}

constexpr int kObjects = 2000;

void Report(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kObjects);
}

void BM_ReadYaml(benchmark::State& state, std::string (*make)(int)) {
  const std::string text = Repeat(make, kObjects);
  for (auto _ : state) {
    YamlStream stream(text);
    while (stream.Next() == YamlStream::Step::kDocument) benchmark::DoNotOptimize(stream.root());
  }
  Report(state, text);
}

void BM_ParseManifests(benchmark::State& state, std::string (*make)(int),
                       Admission admission = Admission::kChecked) {
  const std::string text = Repeat(make, kObjects);
  for (auto _ : state) {
    const ParseResult result = ParseManifests(text, "mesh.yaml", admission);
    if (result.objects.size() != kObjects) state.SkipWithError("not every object was read");
  }
  Report(state, text);
}

// A mesh of 1,000 services with five pods each; every second one has routes and a policy.
void BM_ParseMesh(benchmark::State& state, Admission admission) {
  constexpr int kServices = 1000;
  std::string text;
  for (int i = 0; i < kServices; ++i) {
    text += Service(i) + EndpointSlice(i);
    for (int pod = 0; pod < 5; ++pod) text += Pod(i * 5 + pod);
    if (i % 2 == 0) text += VirtualService(i) + DestinationRule(i);
  }
  for (auto _ : state) {
    const ParseResult result = ParseManifests(text, "mesh.yaml", admission);
    if (result.objects.size() != size_t{8} * kServices) state.SkipWithError("not every object was read");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

BENCHMARK_CAPTURE(BM_ParseMesh, checked, Admission::kChecked)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseMesh, unchecked, Admission::kPassed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ReadYaml, services, Service)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ReadYaml, pods, Pod)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, services, Service)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, pods, Pod)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, slices, EndpointSlice)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, virtual_services, VirtualService)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, virtual_services_unchecked, VirtualService, Admission::kPassed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, destination_rules, DestinationRule)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, destination_rules_unchecked, DestinationRule, Admission::kPassed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, http_routes, HttpRoute)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, http_routes_unchecked, HttpRoute, Admission::kPassed)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, service_entries, ServiceEntry)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ParseManifests, service_entries_unchecked, ServiceEntry, Admission::kPassed)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::config
