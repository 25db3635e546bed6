#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/strings.h"
#include "xds/request.h"
#include "xds/response.h"
#include "xds/stream_core.h"
#include "xds/wire.h"

// What a stream of a large mesh costs: its requests, the comparison with what it has, and its responses. The
// argument is the number of resources.
namespace fairlead::xds {
namespace {

constexpr size_t kResourceSize = 1000;
constexpr std::string_view kEndpointUrl =
    "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

std::string NameOf(size_t i) {
  return StrCat("outbound|80|v1|svc-", i, ".ns-", i % 20, ".svc.cluster.local");
}

ResourcePtr MakeResource(size_t i, int version) {
  auto resource = std::make_shared<cache::Resource>();
  resource->name = NameOf(i);
  resource->any = std::string(kResourceSize, static_cast<char>('a' + version));
  resource->hash = StableHash(resource->any.plain());
  resource->hash += {0, i};
  return resource;
}

std::vector<ResourcePtr> MakeResources(size_t count) {
  std::vector<ResourcePtr> resources;
  for (size_t i = 0; i < count; ++i) resources.push_back(MakeResource(i, 0));
  return resources;
}

// A request as Envoy answers a response: all its names again.
std::string MakeRequest(size_t count, std::string_view nonce) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) AppendString(3, NameOf(i), &bytes);
  AppendString(4, kEndpointUrl, &bytes);
  AppendString(5, nonce, &bytes);
  return bytes;
}

void BM_DecodeRequest(benchmark::State& state) {
  const std::string bytes = MakeRequest(static_cast<size_t>(state.range(0)), "n1");
  for (auto _ : state) benchmark::DoNotOptimize(DecodeRequest(Framing::kStateOfTheWorld, bytes));
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size()) * state.iterations());
}
BENCHMARK(BM_DecodeRequest)->Arg(100)->Arg(6000);

// A subscription that is known by its bytes, so that it costs a hash.
void BM_Acknowledge(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  StreamCore core(Framing::kStateOfTheWorld, MaskOf(TypeId::kEndpoint), "n");
  const std::string first = MakeRequest(count, "");
  core.OnRequest(*DecodeRequest(core.framing(), first));
  const auto response = core.Offer(core.Next()->type, ResourceSet::Of(MakeResources(count)));
  const std::string bytes = MakeRequest(count, response->nonce);
  const auto request = DecodeRequest(core.framing(), bytes);
  for (auto _ : state) benchmark::DoNotOptimize(core.OnRequest(*request));
}
BENCHMARK(BM_Acknowledge)->Arg(100)->Arg(6000);

void BM_InternNames(benchmark::State& state) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < state.range(0); ++i) texts.push_back(NameOf(static_cast<size_t>(i)));
  std::sort(texts.begin(), texts.end());
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  const NameSetPtr held = NameSet::Of(names);
  for (auto _ : state) benchmark::DoNotOptimize(NameSet::Of(names));
}
BENCHMARK(BM_InternNames)->Arg(100)->Arg(6000);

// One resource of many changed: what the first stream pays, and each that comes after it.
void BM_CompareFirst(benchmark::State& state) {
  std::vector<ResourcePtr> resources = MakeResources(static_cast<size_t>(state.range(0)));
  const ResourceListPtr before = ResourceList::Of(resources);
  resources.front() = MakeResource(0, 1);
  const ResourceListPtr after = ResourceList::Of(resources);
  for (auto _ : state) {
    benchmark::DoNotOptimize(after->Since(before));
    ResourceList::DropIdleBodies();  // which forgets the difference
  }
}
BENCHMARK(BM_CompareFirst)->Arg(100)->Arg(6000);

void BM_CompareAgain(benchmark::State& state) {
  std::vector<ResourcePtr> resources = MakeResources(static_cast<size_t>(state.range(0)));
  const ResourceListPtr before = ResourceList::Of(resources);
  resources.front() = MakeResource(0, 1);
  const ResourceListPtr after = ResourceList::Of(resources);
  for (auto _ : state) benchmark::DoNotOptimize(after->Since(before));
}
BENCHMARK(BM_CompareAgain)->Arg(6000);

void BM_EncodeBody(benchmark::State& state) {
  const ResourceListPtr list = ResourceList::Of(MakeResources(static_cast<size_t>(state.range(0))));
  for (auto _ : state) {
    benchmark::DoNotOptimize(list->Body(Framing::kDelta));
    ResourceList::DropIdleBodies();
    ResourceList::DropIdleBodies();
  }
  state.SetBytesProcessed(state.range(0) * static_cast<int64_t>(kResourceSize) * state.iterations());
}
BENCHMARK(BM_EncodeBody)->Arg(6000);

// A response with everything, when others have had it before: header and shared pieces.
void BM_FrameShared(benchmark::State& state) {
  Response response;
  response.version = response.nonce = "0123456789abcdef";
  response.lists = {ResourceList::Of(MakeResources(static_cast<size_t>(state.range(0))))};
  for (auto _ : state) benchmark::DoNotOptimize(Encode(Framing::kStateOfTheWorld, response));
}
BENCHMARK(BM_FrameShared)->Arg(6000);

void BM_FrameOneResource(benchmark::State& state) {
  Response response;
  response.version = response.nonce = "0123456789abcdef";
  response.resources = {MakeResource(1, 0)};
  for (auto _ : state) benchmark::DoNotOptimize(Encode(Framing::kStateOfTheWorld, response));
}
BENCHMARK(BM_FrameOneResource);

// A client that asks for names that do not exist, one by one; names are its own or those of all clients.
void BM_AskForMadeUpNames(benchmark::State& state) {
  const bool own = state.range(1) != 0;
  uint64_t client = 0;
  for (auto _ : state) {
    const std::string prefix = own ? StrCat("client-", ++client, "-") : "name-";
    StreamCore core(Framing::kDelta, ~0u, "n");
    DecodedRequest request;
    request.type_url = kEndpointUrl;
    for (int64_t i = 0; i < state.range(0); ++i) {
      const std::string name = StrCat(prefix, i);
      request.subscribe = {name};
      core.OnRequest(request);
      const auto wanted = core.Next();
      benchmark::DoNotOptimize(core.Offer(wanted->type, ResourceSet::Empty()));
    }
  }
  state.SetItemsProcessed(state.range(0) * state.iterations());
}
BENCHMARK(BM_AskForMadeUpNames)->Args({1000, 1})->Args({10'000, 1})->Args({100'000, 1})->Args({10'000, 0});

}  // namespace
}  // namespace fairlead::xds
