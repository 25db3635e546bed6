#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "cache/recorded.h"

// Clients of many apps of one namespace ask for one key, in 8 threads. Each app needs a variant of its own,
// as listeners do that have the app's name in their tracing tags. The counters say how often a variant was
// made (1 is best), and how many makers ran at the same time on average.
namespace fairlead::cache {
namespace {

struct World {
  uint64_t app;
};
struct OfApp {
  uint64_t app = 0;
  bool Hold(const World& world) const { return app == world.app; }
  uint64_t client_questions() const { return 1; }
  uint64_t client_answers() const { return app; }
  uint64_t ClientAnswersIn(const World& world) const { return world.app; }
};
using Cache = RecordedCache<int, uint64_t, OfApp>;

constexpr int kThreads = 8, kRounds = 4;
constexpr auto kMakeTime =
    std::chrono::microseconds(200);  // spent asleep: the cores of the machine do not count

void BM_AppsOfOneNamespace(benchmark::State& state) {
  const auto apps = static_cast<uint64_t>(state.range(0));
  double made_per_app = 0, making_seconds = 0, seconds = 0;
  for (auto _ : state) {
    Cache cache;
    std::atomic<uint64_t> made{0};
    std::vector<std::vector<std::shared_ptr<const uint64_t>>> held(kThreads);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (uint64_t i = 0; i < apps * kRounds; ++i) {
          const World world{(i + apps / kThreads * static_cast<uint64_t>(thread)) % apps};
          const auto make = [&](const World& in, const auto&) -> Cache::Result {
            ++made;
            std::this_thread::sleep_for(kMakeTime);
            return {std::make_shared<const uint64_t>(in.app), std::make_shared<const OfApp>(OfApp{in.app})};
          };
          held[static_cast<size_t>(thread)].push_back(cache.Get(0, world, make).value);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    making_seconds += static_cast<double>(made) * std::chrono::duration<double>(kMakeTime).count();
    made_per_app += static_cast<double>(made) / static_cast<double>(apps);
  }
  state.counters["made_per_app"] = made_per_app / static_cast<double>(state.iterations());
  state.counters["makers_at_once"] = making_seconds / seconds;
}
BENCHMARK(BM_AppsOfOneNamespace)
    ->Arg(10)
    ->Arg(60)
    ->Arg(300)
    ->Arg(2000)
    ->Iterations(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fairlead::cache
