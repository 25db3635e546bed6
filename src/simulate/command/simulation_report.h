#ifndef FAIRLEAD_SIMULATE_COMMAND_SIMULATION_REPORT_H_
#define FAIRLEAD_SIMULATE_COMMAND_SIMULATION_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "model/proxy.h"
#include "simulate/command/server_side.h"
#include "simulate/loaded_mesh.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::simulate {

// A simulation that is to be told; the parts must outlive it.
struct Simulation {
  const LoadedMesh& mesh;
  const model::Proxy& proxy;
  const SimulatedRequest& request;
  const SimulationOutcome& outcome;
  const std::vector<ServerSide>& servers;  // where asked for
  const std::vector<std::string>& live;    // what proxies run instead (see LiveState)
};

void PrintReport(const Simulation& simulation, std::ostream& out);
// {"reached","verdict","summary","status","location","reason","proxy","madeUpFrom","request","steps":[{"what","name"}],
// "changes":[{"what","value"}],"destinations":[{"cluster","percent","problem","endpoints":[…]}],
// "servers":[{"endpoint","proxy","reached","summary","steps"}],
// "objects":[{"kind","namespace","name","file","line","rules":[{"path","line"}]}],"notes":[…],
// "live":[…]}
nlohmann::json ToJson(const Simulation& simulation);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_COMMAND_SIMULATION_REPORT_H_
