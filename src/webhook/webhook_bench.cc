#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "injection/template_program.h"
#include "source/file/read_file.h"
#include "webhook/injector.h"

namespace fairlead::webhook {
namespace {

constexpr char kCase[] = "tests/injection/cases/probes-named-port-missing/";

// An injector with a template of two hundred lines; never null.
Injector* SharedInjector() {
  static Injector& injector = *[] {
    injection::TemplateProgramOptions program;
    program.path = injection::TemplateProgram::FindBeside();
    auto* made = new Injector({}, std::make_unique<injection::TemplateProgram>(program));
    made->SetMesh(model::DefaultMeshConfig());
    made->SetTexts("bench", {*source::ReadFile(std::string(kCase) + "injector.yaml"),
                             *source::ReadFile(std::string(kCase) + "values.yaml")});
    made->Start();
    while (made->configuration() == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return made;
  }();
  return &injector;
}

// One pod: the review's text to the answer's, with the template program.
void Injection(benchmark::State& state) {
  server::HttpRequest request;
  request.path = "/inject";
  request.headers["content-type"] = "application/json";
  request.body = *source::ReadFile(std::string(kCase) + "review.json");
  Injector* injector = SharedInjector();
  for (auto _ : state) benchmark::DoNotOptimize(injector->Answer(request));
}
BENCHMARK(Injection)->UseRealTime();
BENCHMARK(Injection)->Threads(4)->UseRealTime();

}  // namespace
}  // namespace fairlead::webhook
