#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/bench_mesh.h"
#include "mesh/view/proxy_scope.h"
#include "push/publish/preview.h"
#include "push/stream/generators.h"
#include "state/mesh.h"

// What each of a thousand connected sidecars would be sent differently by one change of a mesh in which all
// of them see all of 1,000 services: from the change on, and nothing of it known before.
namespace fairlead::app {
namespace {

constexpr BenchMesh kMesh{20, 1000, false};
constexpr int kSidecars = 1000;

class World {
 public:
  World() : maker_(push::MakeGenerators(), {}, {}, Scope, false) {
    mesh_.Apply(ParseChanges(kMesh.Whole()), BenchSettings());
    for (int i = 0; i < kSidecars; ++i) streams_.push_back(Connected(i));
  }

  // How many of the sidecars would be sent anything.
  int Preview(const std::string& manifests) {
    state::Mesh second(mesh_);
    const mesh::SnapshotPtr to = second.Apply(ParseChanges(manifests), nullptr).snapshot;
    int concerned = 0;
    for (const push::StreamReport& stream : streams_)
      concerned += push::PreviewOf(maker_, stream, mesh_.snapshot(), to).types.empty() ? 0 : 1;
    return concerned;
  }
  int NextStep() { return ++step_; }

 private:
  static mesh::ProxyScopePtr Scope(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                                   const mesh::ProxyScopePtr& previous, bool shadow) {
    return mesh::ComputeProxyScope(snapshot, proxy, previous, shadow);
  }

  // Asks for everything, and for what that refers to.
  push::StreamReport Connected(int number) {
    push::StreamReport stream;
    stream.number = static_cast<uint64_t>(number);
    const model::ProxyPtr proxy = BenchProxy(number % kMesh.namespaces, number);
    const push::ProxyView view = maker_.ViewIn(mesh_.snapshot(), proxy, nullptr);
    stream.scope = view.scope;
    for (const auto& [holder, held] : {std::pair{xds::TypeId::kCluster, xds::TypeId::kEndpoint},
                                       std::pair{xds::TypeId::kListener, xds::TypeId::kRoute}}) {
      std::vector<std::string_view> names;
      const xds::ResourceSetPtr all = view.Make(holder, nullptr);
      for (const xds::ResourceListPtr& part : all->parts()) {
        for (const cache::Reference& reference : part->References()) {
          if (reference.type == held) names.push_back(reference.name);
        }
      }
      StatusOf(&stream, holder).subscribed = StatusOf(&stream, holder).wildcard = true;
      StatusOf(&stream, held).subscribed = true;
      StatusOf(&stream, held).names = xds::NameSet::Of(std::move(names));
      view.Make(held, StatusOf(&stream, held).names);
    }
    return stream;
  }
  static xds::TypeStatus& StatusOf(push::StreamReport* stream, xds::TypeId type) {
    return stream->types[static_cast<size_t>(type)].status;
  }

  state::Mesh mesh_;
  push::ResourceMaker maker_;
  std::vector<push::StreamReport> streams_;
  int step_ = 0;
};

void BM_Preview(benchmark::State& state, std::string (*change)(int step)) {
  static auto* const world = new World;
  int concerned = 0;
  for (auto _ : state) concerned = world->Preview(change(world->NextStep()));
  state.counters["sidecars concerned"] = concerned;
}

std::string ChangeEndpoint(int step) { return kMesh.EndpointSlice(0, 1 + step % 4); }
std::string ChangeRoute(int step) { return kMesh.Route(0, 2 + step); }
std::string ChangeRule(int step) { return kMesh.Rule(0, 2 + step); }
std::string AddService(int step) { return kMesh.Service(kMesh.services + step * kMesh.namespaces); }
BENCHMARK_CAPTURE(BM_Preview, endpoint, ChangeEndpoint)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Preview, route, ChangeRoute)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Preview, rule, ChangeRule)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Preview, service, AddService)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::app
