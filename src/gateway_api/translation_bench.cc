#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "gateway_api/translation.h"

namespace fairlead::gateway_api {
namespace {

constexpr int kRoutes = 2000;
constexpr int kHosts = 500;

std::string Route(int number, std::string_view path) {
  return StrCat("---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r", number,
                ", namespace: shop}\nspec:\n  parentRefs: [{name: edge}]\n  hostnames: [h", number % kHosts,
                ".example]\n  rules: [{matches: [{path: {value: ", path,
                "}}], backendRefs: [{name: web, port: 80}]}]\n");
}

std::vector<config::ObjectChange> Parse(const std::string& text) {
  std::vector<config::ObjectChange> changes;
  for (const config::ConfigPtr& object :
       config::ParseManifests(text, "mesh.yaml", config::Admission::kPassed).objects)
    changes.push_back({KeyOf(*object), object});
  return changes;
}

struct Mesh {
  Mesh() {
    std::string text =
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: "
        "shop}\n"
        "spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n";
    for (int i = 0; i < kRoutes; ++i) text += Route(i, StrCat("/", i));
    translation.Apply(objects, objects.Apply(Parse(text)));
  }
  config::ObjectStore objects;
  Translation translation{"cluster.local"};
};

// One of 2,000 routes changes: its rules and those of its host.
void BM_ChangedRoute(benchmark::State& state) {
  Mesh mesh;
  const std::vector<config::ObjectChange> versions[] = {Parse(Route(7, "/a")), Parse(Route(7, "/b"))};
  size_t turn = 0, made = 0;
  for (auto _ : state)
    made += mesh.translation.Apply(mesh.objects, mesh.objects.Apply(versions[turn++ % 2])).size();
  if (made != turn) state.SkipWithError("a change makes more or less than one object");
}
BENCHMARK(BM_ChangedRoute)->Unit(benchmark::kMicrosecond);

void BM_Everything(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Mesh());
}
BENCHMARK(BM_Everything)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::gateway_api
