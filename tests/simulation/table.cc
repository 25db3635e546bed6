#include "tests/simulation/table.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/mesh_folder.h"
#include "base/strings.h"
#include "simulate/command/simulated_proxy.h"
#include "simulate/objects.h"
#include "simulate/simulate.h"

namespace fairlead::simulation {
namespace {

namespace fs = std::filesystem;

const fs::path& Tables() {
  static const auto* folder = new fs::path("tests/simulation");
  return *folder;
}

// A table's manifests over the base's, as one folder: both are linked into it.
class JoinedFolder {
 public:
  explicit JoinedFolder(const std::string& table)
      : path_(fs::temp_directory_path() / StrCat("fairlead-simulation-", getpid(), "-", table)) {
    fs::create_directories(path_);
    fs::create_directory_symlink(fs::absolute(Tables() / "base"), path_ / "base");
    fs::create_directory_symlink(fs::absolute(Tables() / table), path_ / "table");
  }
  ~JoinedFolder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  const fs::path path_;
};

// "CALL => END; FACT; …"; false where it is none.
bool ParseRow(std::string_view line, Row* row) {
  const size_t arrow = line.find("=>");
  if (arrow == line.npos) return false;
  row->call = Trim(line.substr(0, arrow));
  for (std::string_view part : Split(line.substr(arrow + 2), ';')) row->facts.emplace_back(Trim(part));
  row->end = row->facts.front();
  row->facts.erase(row->facts.begin());
  return true;
}

}  // namespace

std::vector<std::string> AllTables() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Tables())) {
    if (fs::exists(entry.path() / "calls")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Table ReadTable(const std::string& name) {
  Table table;
  table.file = (Tables() / name / "calls").string();
  std::ifstream in(table.file);
  std::string proxy;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    const std::string_view line = Trim(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      proxy = line.substr(1, line.size() - 2);
      continue;
    }
    Row row;
    row.line = number;
    row.proxy = proxy;
    if (!proxy.empty() && ParseRow(line, &row)) {
      table.rows.push_back(std::move(row));
    } else {
      table.mistakes.push_back(StrCat(table.file, ":", number, ": neither a call nor a proxy: ", line));
    }
  }
  return table;
}

absl::StatusOr<simulate::LoadedMesh> LoadTable(const std::string& name) {
  const JoinedFolder folder(name);
  const fs::path mesh_config = Tables() / name / "meshConfig";
  return app::LoadMesh({
      .folder = folder.path(),
      .mesh_config = fs::exists(mesh_config) ? mesh_config.string() : "",
      .networks_config = "",
      .domain = "cluster.local",
      .cluster_id = "Kubernetes",
      .system_namespace = "istio-system",
  });
}

absl::StatusOr<Sidecar> SidecarOf(const simulate::LoadedMesh& mesh, const std::string& name) {
  const auto proxy = simulate::ChooseProxy(mesh, {.name = name, .file = "", .labels = {}});
  if (!proxy.ok()) return proxy.status();
  Sidecar out;
  out.scope = mesh::ComputeProxyScope(*mesh.snapshot, *proxy);
  out.resources = simulate::ResourcesOf(*mesh.snapshot, *out.scope);
  return out;
}

absl::StatusOr<Sent> Send(const simulate::LoadedMesh& mesh, const Sidecar& sidecar, const std::string& call) {
  simulate::CallOptions options;
  CLI::App command;
  simulate::AddCallFlags(&options, &command);
  try {
    command.parse(call);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  auto made = simulate::MakeCall(options, *mesh.snapshot, *sidecar.scope);
  if (!made.ok()) return made.status();
  auto outcome = simulate::Simulate(sidecar.resources, made->request);
  if (!outcome.ok()) return outcome.status();
  simulate::AddMeshObjects(*mesh.snapshot, *sidecar.scope, mesh.Of(config::Kind::kPeerAuthentication),
                           made->request, &*outcome);
  return Sent{*std::move(made), *std::move(outcome)};
}

}  // namespace fairlead::simulation
