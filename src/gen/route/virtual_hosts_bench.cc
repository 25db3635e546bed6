#include <benchmark/benchmark.h>

#include "gen/route/build.h"
#include "gen/route/test_objects.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {
namespace {

// A port that `services` services share, every tenth with a VirtualService.
HostInputs ManyServices(int64_t services) {
  HostInputs inputs;
  inputs.port = 80;
  inputs.client.ns = "default";
  inputs.client.dns_domain = "default.svc.cluster.local";
  inputs.settings = TestSettings();
  for (int64_t i = 0; i < services; ++i) {
    const std::string host = StrCat("service-", i, ".shop-", i % 20, ".svc.cluster.local");
    inputs.services.push_back(TestService(host, StrCat("10.0.", i / 250, ".", i % 250 + 1)));
    if (i % 10 == 0) {
      inputs.virtual_services.push_back(TestVirtualService(
          StrCat("v", i),
          StrCat("hosts: '", host, "' http { match { uri { prefix: '/v2' } } route { destination { host: '",
                 host, "' subset: 'v2' } } } http { route { destination { host: '", host, "' } } }")));
    }
  }
  return inputs;
}

void BM_RouteConfiguration(benchmark::State& state) {
  auto hosts = std::make_shared<const HostInputs>(ManyServices(state.range(0)));
  Inputs inputs;
  inputs.name = "80";
  inputs.hosts = hosts;
  size_t bytes = 0;
  for (auto _ : state) {
    bytes = BuildOutboundRouteConfiguration(inputs, BuildVirtualHosts(*hosts)).size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_RouteConfiguration)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace fairlead::gen::route
