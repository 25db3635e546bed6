#ifndef FAIRLEAD_SIMULATE_RULE_LINES_H_
#define FAIRLEAD_SIMULATE_RULE_LINES_H_

#include <string>
#include <vector>

#include "config/object.h"
#include "simulate/outcome.h"

// The rule of an object that decided, with its line.
namespace fairlead::simulate {

// A VirtualService whose HTTP routes all have names: one that has none is named by its place, "spec.http[1]".
// Other objects as they are.
config::ConfigPtr WithNamedRoutes(const config::ConfigPtr& object);

struct RuleLine {
  std::string path;  // "spec.http[1]", "spec.rules[0]"
  int line = 0;      // in the object's file
};
// The deciding rules of an object: the chosen route of a VirtualService, the met rules of an
// AuthorizationPolicy. Reads the object's file; empty where it has none, or another content by now.
std::vector<RuleLine> RulesOf(const config::ConfigObject& object, const SimulationOutcome& outcome);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_RULE_LINES_H_
