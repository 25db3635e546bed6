// Tables of calls: what a workload sends, and where it must end. Each sub-folder has a file `calls`,
// manifests (laid over those of base/) and perhaps `meshConfig`. A line of `calls`:
//
//   FLAGS URL => END; KEY=VALUE; !KEY=VALUE; !KEY     # as `fairlead simulate` takes them
//
// END is Outcome::Summary(). KEY=VALUE: Outcome::Values(KEY) holds the value; "!": it does not, or none at
// all. [POD.NAMESPACE] or [NODE ID] says whose proxy the lines below are about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/mesh_folder.h"
#include "app/simulated_call.h"
#include "app/simulated_proxy.h"
#include "base/strings.h"
#include "mesh/proxy_scope.h"
#include "simulate/objects.h"
#include "simulate/simulate.h"

namespace fairlead::app {
namespace {

namespace fs = std::filesystem;

const fs::path& Tables() {
  static const auto* folder = new fs::path("tests/simulation");
  return *folder;
}

struct Row {
  int line = 0;
  std::string proxy;
  std::string call;
  std::string end;
  std::vector<std::string> facts;
};

struct Table {
  std::vector<Row> rows;
  std::vector<std::string> mistakes;
};

Table ReadTable(const fs::path& file) {
  Table table;
  std::ifstream in(file);
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
    const size_t arrow = line.find("=>");
    if (arrow == line.npos || proxy.empty()) {
      table.mistakes.push_back(StrCat(file.string(), ":", number, ": neither a call nor a proxy: ", line));
      continue;
    }
    Row row{number, proxy, std::string(Trim(line.substr(0, arrow))), "", {}};
    for (std::string_view part : Split(line.substr(arrow + 2), ';')) row.facts.emplace_back(Trim(part));
    row.end = row.facts.front();
    row.facts.erase(row.facts.begin());
    table.rows.push_back(std::move(row));
  }
  return table;
}

// A folder's manifests over the base's, as one folder: both are linked into it.
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

LoadedMesh Load(const std::string& table) {
  const JoinedFolder folder(table);
  SettingsFiles::Options settings{.mesh_config = (Tables() / table / "meshConfig").string(),
                                  .networks_config = "",
                                  .domain = "cluster.local",
                                  .cluster_id = "Kubernetes",
                                  .system_namespace = "istio-system"};
  absl::StatusOr<LoadedMesh> mesh = LoadMesh(folder.path(), settings);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  for (const config::Diagnostic& one : mesh->diagnostics) {
    if (one.severity == config::Severity::kError) ADD_FAILURE() << ToText(one);
  }
  return *std::move(mesh);
}

// One proxy with what it was sent.
struct Sidecar {
  mesh::ProxyScopePtr scope;
  simulate::ProxyResources resources;
};

Sidecar SidecarOf(const LoadedMesh& mesh, const std::string& name) {
  const absl::StatusOr<model::ProxyPtr> proxy = ChooseProxy(mesh, {.name = name, .file = "", .labels = {}});
  EXPECT_TRUE(proxy.ok()) << proxy.status();
  Sidecar out;
  out.scope = mesh::ComputeProxyScope(*mesh.snapshot, *proxy);
  out.resources = simulate::ResourcesOf(*mesh.snapshot, *out.scope);
  return out;
}

absl::StatusOr<simulate::Outcome> Send(const LoadedMesh& mesh, const Sidecar& sidecar,
                                       const std::string& call) {
  CallOptions options;
  CLI::App command;
  AddCallFlags(&options, &command);
  try {
    command.parse(call);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  const auto made = MakeCall(options, *mesh.snapshot, *sidecar.scope);
  if (!made.ok()) return made.status();
  auto outcome = simulate::Simulate(sidecar.resources, made->request);
  if (outcome.ok()) {
    simulate::AddMeshObjects(*mesh.snapshot, *sidecar.scope, mesh.Of(config::Kind::kPeerAuthentication),
                             made->request, &*outcome);
  }
  return outcome;
}

std::string Told(const simulate::Outcome& outcome) {
  std::string text = StrCat("  end: ", outcome.Summary(), "\n");
  for (const auto* facts : {&outcome.steps, &outcome.changes}) {
    for (const simulate::Fact& fact : *facts) StrAppend(&text, "  ", fact.key, "=", fact.value, "\n");
  }
  for (std::string_view key :
       {"endpoint", "transport", "object", "host", "request header", "response header"}) {
    for (const std::string& value : outcome.Values(key)) StrAppend(&text, "  ", key, "=", value, "\n");
  }
  return text;
}

void CheckFact(const simulate::Outcome& outcome, std::string_view fact) {
  const bool absent = fact.starts_with('!');
  if (absent) fact.remove_prefix(1);
  const size_t equals = fact.find('=');
  const std::vector<std::string> values = outcome.Values(fact.substr(0, equals));
  if (equals == fact.npos) {
    EXPECT_EQ(values.empty(), absent) << fact;
    return;
  }
  const bool there = std::find(values.begin(), values.end(), fact.substr(equals + 1)) != values.end();
  EXPECT_NE(there, absent) << fact;
}

class CallTable : public testing::TestWithParam<std::string> {};

TEST_P(CallTable, EndsWhereItShould) {
  const fs::path file = Tables() / GetParam() / "calls";
  const Table table = ReadTable(file);
  EXPECT_THAT(table.mistakes, testing::IsEmpty());
  const LoadedMesh mesh = Load(GetParam());
  std::map<std::string, Sidecar> sidecars;
  for (const Row& row : table.rows) {
    if (!sidecars.contains(row.proxy)) sidecars[row.proxy] = SidecarOf(mesh, row.proxy);
    const auto outcome = Send(mesh, sidecars[row.proxy], row.call);
    SCOPED_TRACE(StrCat(file.string(), ":", row.line, ": ", row.call));
    if (!outcome.ok()) {
      ADD_FAILURE() << outcome.status();
      continue;
    }
    SCOPED_TRACE(Told(*outcome));
    EXPECT_EQ(outcome->Summary(), row.end);
    for (const std::string& fact : row.facts) CheckFact(*outcome, fact);
  }
}

std::vector<std::string> AllTables() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(Tables())) {
    if (fs::exists(entry.path() / "calls")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A table that is not found, or a row that is taken for a comment, would pass unnoticed.
TEST(CallTables, AreAllThere) {
  size_t rows = 0;
  for (const std::string& name : AllTables()) {
    const Table table = ReadTable(Tables() / name / "calls");
    EXPECT_FALSE(table.rows.empty()) << name;
    rows += table.rows.size();
  }
  EXPECT_GE(rows, 200u);
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  return ReplaceAll(info.param, "-", "_");
}

INSTANTIATE_TEST_SUITE_P(Tables, CallTable, testing::ValuesIn(AllTables()), NameOf);

}  // namespace
}  // namespace fairlead::app
