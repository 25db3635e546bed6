#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_ENTRIES_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_ENTRIES_H_

#include <set>
#include <string>

#include "source/marathon/marathon_answers.h"
#include "source/marathon/marathon_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// Instances that are known to be well, by their ids.
using MarathonWell = std::set<std::string>;

// The instances of a service that get requests, of those that Marathon lists. `well`: those that did before;
// one without a result of its health checks goes on as it was, since a new leader has none. Pure.
MarathonWell WellMarathonInstances(const MarathonOptions& options, const MarathonService& service,
                                   const MarathonWell& well);

// The ServiceEntries that stand for a service, with those of its instances that are `well`: one for each host
// name that the templates make of its id. Without such instances, or without ports, none. The order of the
// instances does not matter. Pure.
PlatformPart MakeMarathonEntries(const MarathonOptions& options, const MarathonService& service,
                                 const MarathonWell& well);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_ENTRIES_H_
