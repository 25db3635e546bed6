#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_ENTRIES_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_ENTRIES_H_

#include <string>
#include <vector>

#include "source/mesos/mesos_events.h"
#include "source/mesos/mesos_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// Which ServiceEntry a task belongs to.
struct MesosPlace {
  std::string ns, host;
  friend auto operator<=>(const MesosPlace&, const MesosPlace&) = default;
};

struct MesosPlacedTask {
  const MesosTask* task;
  const MesosAgent* agent;  // null: it is not known
};

// One for each template of host names, each once. None where the framework or the labels are not selected.
// Pure.
std::vector<MesosPlace> MesosPlacesOf(const MesosOptions& options, const std::string& framework,
                                      const MesosTask& task);

// The ServiceEntry of all the tasks of a place, with those as endpoints that run and are well; none without
// such. Its ports are those that all of these have. Of two that disagree, the task that comes first counts.
// Pure.
PlatformPart MakeMesosEntries(const MesosOptions& options, const MesosPlace& place,
                              const std::vector<MesosPlacedTask>& tasks);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_ENTRIES_H_
