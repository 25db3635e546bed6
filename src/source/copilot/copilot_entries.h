#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_ENTRIES_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_ENTRIES_H_

#include <map>
#include <string>
#include <vector>

#include "source/copilot/copilot_messages.h"
#include "source/copilot/copilot_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// The parts of a view, by "HOST" and "internal HOST". Pure.
//
// The routes of a host are a ServiceEntry with all of their backends, labelled by process (cfapp). Where they
// have paths or several processes, they are also a DestinationRule with a subset for each process, and a
// VirtualService with the paths, the longest first, and weights. An internal route is a ServiceEntry with its
// virtual address. The order of routes and backends does not matter.
// Source: docs/model-mappings.md of github.com/cloudfoundry-attic/copilot.
std::map<std::string, PlatformPart> MakeCopilotParts(const CopilotOptions& options,
                                                     std::vector<CopilotRoute> routes,
                                                     std::vector<CopilotRoute> internal_routes);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_ENTRIES_H_
