#ifndef FAIRLEAD_TESTS_SIMULATION_TABLE_H_
#define FAIRLEAD_TESTS_SIMULATION_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mesh/view/proxy_scope.h"
#include "simulate/command/simulated_call.h"
#include "simulate/loaded_mesh.h"
#include "simulate/outcome.h"
#include "simulate/resources.h"

// Tables of calls: what a workload sends, and where it must end. Each sub-folder of tests/simulation has a
// file `calls`, manifests (laid over those of base/) and perhaps `meshConfig`. A line of `calls`:
//
//   FLAGS URL => END; KEY=VALUE; !KEY=VALUE; !KEY     # as `fairlead simulate` takes them
//
// END is Outcome::Summary(). KEY=VALUE: Outcome::Values(KEY) holds the value; "!": it does not, or none at
// all. [POD.NAMESPACE] or [NODE ID] says whose proxy the lines below are about.
namespace fairlead::simulation {

struct Row {
  int line = 0;
  std::string proxy;
  std::string call;
  std::string end;
  std::vector<std::string> facts;
};

struct Table {
  std::string file;
  std::vector<Row> rows;
  std::vector<std::string> mistakes;
};

// The tables' names, sorted. The working directory is the checkout's root.
std::vector<std::string> AllTables();
Table ReadTable(const std::string& name);

// A table's mesh.
absl::StatusOr<simulate::LoadedMesh> LoadTable(const std::string& name);

// One proxy with what it was sent.
struct Sidecar {
  mesh::ProxyScopePtr scope;
  simulate::ProxyResources resources;
};
absl::StatusOr<Sidecar> SidecarOf(const simulate::LoadedMesh& mesh, const std::string& name);

// A row's call as a request, and where it ends.
struct Sent {
  simulate::SimulatedCall call;
  simulate::SimulationOutcome outcome;
};
absl::StatusOr<Sent> Send(const simulate::LoadedMesh& mesh, const Sidecar& sidecar, const std::string& call);

}  // namespace fairlead::simulation

#endif  // FAIRLEAD_TESTS_SIMULATION_TABLE_H_
