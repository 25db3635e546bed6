#include "app/status_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/mesh_folder.h"
#include "base/json.h"
#include "base/log.h"
#include "base/strings.h"
#include "config/store.h"
#include "gateway_api/status/statuses.h"
#include "simulate/command/mesh_flags.h"

namespace fairlead::app {
namespace {

constexpr int kWrongCall = 2;

struct Options {
  simulate::MeshFiles files;
  std::string output = "text";
  bool udp_routes = false;
};

void AddFlags(Options* o, CLI::App* command) {
  simulate::AddMeshFlags(&o->files, command, "-f,--file");
  command->add_flag("--udpRoutes", o->udp_routes, "with UDPRoutes, as discovery writes it");
  command->add_option("-o,--output", o->output, "text or json")->check(CLI::IsMember({"text", "json"}));
}

std::vector<gateway_api::StatusOf> StatusesOf(const simulate::LoadedMesh& mesh, const Options& options) {
  model::Features features;
  features.udp_routes = options.udp_routes;
  std::vector<config::ObjectChange> changes;
  changes.reserve(mesh.objects.size());
  for (const auto& [key, object] : mesh.objects) changes.push_back({key, object});
  config::ObjectStore objects;
  objects.Apply(changes);
  gateway_api::Translation translation(options.files.domain, features);
  translation.Apply(objects, changes);
  return gateway_api::ComputeStatuses(translation, objects, *mesh.snapshot);
}

// "   Accepted=False (NoMatchingParent): port 443 not found", of every list of conditions below `value`.
void PrintConditions(const nlohmann::ordered_json& value, const std::string& place) {
  if (value.is_array()) {
    for (const auto& one : value) PrintConditions(one, place);
    return;
  }
  if (!value.is_object()) return;
  if (value.contains("type") && value.contains("reason")) {
    const auto text = [&value](const char* field) {
      return value.contains(field) && value[field].is_string() ? std::string(value[field]) : std::string();
    };
    std::cout << "  " << place << text("type") << "=" << text("status") << " (" << text("reason")
              << "): " << text("message") << "\n";
    return;
  }
  std::string inside = place;
  if (value.contains("name") && value["name"].is_string())
    inside = StrCat(place, std::string(value["name"]), ": ");
  for (const auto& [key, member] : value.items()) PrintConditions(member, inside);
}

void PrintText(const gateway_api::StatusOf& one) {
  std::cout << Describe(KeyOf(*one.object)) << "\n";
  PrintConditions(one.status, "");
}

}  // namespace

int RunStatus(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App command("Prints the status of Gateway API objects, Ingresses and ServiceEntries",
                   "fairlead status");
  AddFlags(&options, &command);
  try {
    command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : kWrongCall;
  }
  SetLogLevels("none").IgnoreError();  // the standard output is the report's
  const absl::StatusOr<simulate::LoadedMesh> mesh = LoadMesh(options.files);
  FlushLogs();
  if (!mesh.ok()) {
    std::cerr << "fairlead status: " << FromAbsl(mesh.status().message()) << std::endl;
    return kWrongCall;
  }
  for (const config::Diagnostic& one : mesh->diagnostics) {
    if (one.severity == config::Severity::kError) std::cerr << ToText(one) << "\n";
  }
  const auto statuses = StatusesOf(*mesh, options);
  if (options.output == "json") {
    std::cout << JsonText(gateway_api::ToJson(statuses), 1) << std::endl;
  } else {
    for (const gateway_api::StatusOf& one : statuses) PrintText(one);
  }
  return 0;
}

}  // namespace fairlead::app
