#ifndef FAIRLEAD_APP_SIMULATION_REPORT_H_
#define FAIRLEAD_APP_SIMULATION_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "app/mesh_folder.h"
#include "app/server_side.h"
#include "model/proxy.h"
#include "simulate/outcome.h"
#include "simulate/request.h"

namespace fairlead::app {

// A simulation that is to be told; the parts must outlive it.
struct Simulation {
  const LoadedMesh& mesh;
  const model::Proxy& proxy;
  const simulate::Request& request;
  const simulate::Outcome& outcome;
  const std::vector<ServerSide>& servers;  // where asked for
};

void PrintReport(const Simulation& simulation, std::ostream& out);
// {"reached","verdict","summary","status","location","reason","proxy","request","steps":[{"what","name"}],
// "changes":[{"what","value"}],"destinations":[{"cluster","percent","problem","endpoints":[…]}],
// "servers":[{"endpoint","proxy","reached","summary","steps"}],
// "objects":[{"kind","namespace","name","file","line"}],"notes":[…]}
nlohmann::json ToJson(const Simulation& simulation);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_SIMULATION_REPORT_H_
