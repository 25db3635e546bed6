#include "injection/inject_command.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/interned.h"
#include "base/strings.h"
#include "injection/cluster_texts.h"
#include "injection/inject_case.h"
#include "injection/template_program.h"
#include "injection/typed_json.h"
#include "injection/workload.h"
#include "injection/yaml_text.h"
#include "model/mesh_config.h"
#include "source/file/read_file.h"

namespace fairlead::injection {
namespace {

constexpr int kWrongCall = 2;

struct Options {
  std::string file, output, config_file, values_file, mesh_file, revision, folder, program;
  ClusterTextsPlace cluster;  // where there is a kubeconfig
  bool native = false;

  bool HasCluster() const { return !cluster.kubeconfig.empty(); }
};

int Fail(std::string_view why, int status = 1) {
  std::cerr << "fairlead inject: " << why << std::endl;
  return status;
}

absl::StatusOr<std::string> ReadInput(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return source::ReadFile(path);
}

// Files go before the cluster.
absl::StatusOr<model::MeshConfigPtr> ReadMesh(const Options& options) {
  std::string text, path = options.mesh_file;
  if (!path.empty() || options.HasCluster()) {
    absl::StatusOr<std::string> read =
        path.empty() ? ReadClusterMesh(options.cluster) : source::ReadFile(path);
    if (!read.ok()) return read.status();
    text = *std::move(read);
  }
  if (path.empty()) path = StrCat("ConfigMap ", options.cluster.ns, "/", options.cluster.mesh_config_map);
  const model::MeshConfigResult mesh = model::ParseMeshConfig(text, Interned(path));
  for (const config::Diagnostic& one : mesh.diagnostics) {
    if (one.severity == config::Severity::kError)
      return absl::InvalidArgumentError(StrCat(path, ":", one.line, ": ", one.path, ": ", one.message));
  }
  return mesh.mesh;
}

absl::StatusOr<InjectorTexts> ReadTexts(const Options& options) {
  InjectorTexts texts;
  if (options.config_file.empty() || options.values_file.empty()) {
    auto read = ReadClusterTexts(options.cluster);
    if (!read.ok()) return read.status();
    texts = *std::move(read);
  }
  for (const auto& [path, text] :
       {std::pair(&options.config_file, &texts.config), std::pair(&options.values_file, &texts.values)}) {
    if (path->empty()) continue;
    absl::StatusOr<std::string> read = source::ReadFile(*path);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  return texts;
}

absl::StatusOr<WorkloadInjection> Prepare(const Options& options, TemplateEngine& engine) {
  WorkloadInjection injection;
  auto texts = ReadTexts(options);
  if (!texts.ok()) return texts.status();
  injection.texts = *std::move(texts);
  absl::StatusOr<model::MeshConfigPtr> mesh = ReadMesh(options);
  if (!mesh.ok()) return mesh.status();
  injection.mesh = *std::move(mesh);
  auto configuration = LoadConfiguration(injection.texts, injection.mesh, {}, engine);
  if (!configuration.ok()) return configuration.status();
  injection.configuration = *std::move(configuration);
  injection.revision = options.revision;
  injection.native = options.native;
  return injection;
}

absl::StatusOr<std::string> InjectText(std::string_view text, const WorkloadInjection& injection,
                                       TemplateEngine& engine) {
  const absl::StatusOr<std::vector<Json>> documents = ReadDocuments(text);
  if (!documents.ok()) return documents.status();
  std::string out;
  for (const Json& document : *documents) {
    if (!HasPods(document)) {
      StrAppend(&out, YamlText(document), "---\n");
      continue;
    }
    const absl::StatusOr<WorkloadAnswer> answer = InjectWorkload(document, injection, engine);
    if (!answer.ok()) return answer.status();
    for (const std::string& warning : answer->warnings) std::cerr << warning;
    StrAppend(&out, YamlText(answer->object), "---\n");
  }
  return out;
}

int InjectFile(const Options& options, TemplateEngine& engine) {
  const absl::StatusOr<WorkloadInjection> injection = Prepare(options, engine);
  if (!injection.ok()) return Fail(FromAbsl(injection.status().message()));
  const absl::StatusOr<std::string> text = ReadInput(options.file);
  if (!text.ok()) return Fail(FromAbsl(text.status().message()));
  const absl::StatusOr<std::string> injected = InjectText(*text, *injection, engine);
  if (!injected.ok()) return Fail(StrCat(options.file, ": ", FromAbsl(injected.status().message())));
  if (options.output.empty()) {
    std::cout << *injected;
    return 0;
  }
  std::ofstream file(options.output, std::ios::binary);
  file << *injected;
  return file.flush() ? 0 : Fail(StrCat("cannot write ", options.output));
}

int InjectFolder(const Options& options, TemplateEngine& engine) {
  if (options.output != "json" && !options.output.empty())
    return Fail("--case has the output json alone", kWrongCall);
  const absl::StatusOr<std::string> answer = AnswerCase(options.folder, engine);
  if (!answer.ok()) return Fail(StrCat(options.folder, "/", FromAbsl(answer.status().message())));
  std::cout << *answer << std::endl;
  return 0;
}

// To names that were not given.
void AddRevision(const CLI::App& command, Options* options) {
  for (const auto& [flag, name] : {std::pair("--injectConfigMapName", &options->cluster.config_map),
                                   std::pair("--meshConfigMapName", &options->cluster.mesh_config_map)}) {
    if (command.count(flag) == 0) *name = WithRevision(*name, options->revision);
  }
}

}  // namespace

int RunInject(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App command("Adds sidecars to the workloads of a file, as the webhook does to pods",
                   "fairlead inject");
  command.add_option("-f,--filename", options.file,
                     "file of workloads, YAML or JSON; - is the standard input");
  command.add_option("-o,--output", options.output, "file for the result; with --case: json");
  command.add_option("--injectConfigFile", options.config_file,
                     "the injector's configuration: key config of its ConfigMap");
  command.add_option("--valuesFile", options.values_file,
                     "the values of its templates: key values of its ConfigMap");
  command.add_option("--meshConfigFile", options.mesh_file,
                     "MeshConfig; Istio's defaults without it and without --kubeconfig");
  command
      .add_option("--kubeconfig", options.cluster.kubeconfig,
                  "file that says how to reach the cluster whose ConfigMaps have what no file has")
      ->envname("KUBECONFIG");
  command.add_option("--context", options.cluster.context,
                     "context of that file; its current one without it");
  command.add_option("-i,--istioNamespace", options.cluster.ns, "namespace of the ConfigMaps")
      ->capture_default_str();
  command
      .add_option("--injectConfigMapName", options.cluster.config_map,
                  "the injector's ConfigMap; a revision is added to the default")
      ->capture_default_str();
  command
      .add_option("--meshConfigMapName", options.cluster.mesh_config_map,
                  "the MeshConfig's ConfigMap; a revision is added to the default")
      ->capture_default_str();
  command.add_option("-r,--revision", options.revision, "revision of the control plane");
  command.add_flag("--nativeSidecars", options.native, "sidecars are init containers that go on");
  command.add_option("--templateProgram", options.program,
                     "program that runs templates; the one beside fairlead without it");
  command.add_option("--case", options.folder,
                     "folder with a question to the webhook, whose answer is printed");
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  if (options.folder.empty() == options.file.empty())
    return Fail("one of -f and --case is required", kWrongCall);
  if (!options.file.empty() && !options.HasCluster() &&
      (options.config_file.empty() || options.values_file.empty()))
    return Fail("--injectConfigFile and --valuesFile are required, or --kubeconfig", kWrongCall);
  AddRevision(command, &options);
  TemplateProgramOptions program;
  program.path = options.program.empty() ? TemplateProgram::FindBeside() : options.program;
  program.workers = 1;
  if (program.path.empty())
    return Fail("there is no program fairlead-templates beside fairlead; --templateProgram names one");
  TemplateProgram engine(program);
  return options.folder.empty() ? InjectFile(options, engine) : InjectFolder(options, engine);
}

}  // namespace fairlead::injection
