#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_STATE_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_STATE_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "source/mesos/mesos_entries.h"
#include "source/mesos/mesos_events.h"
#include "source/mesos/mesos_options.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

// What a master has said so far: tasks with DiscoveryInfo, their agents and frameworks, and which tasks make
// up which service. One thread; no I/O.
class MesosState {
 public:
  // The options outlive it.
  explicit MesosState(const MesosOptions& options) : options_(options) {}

  // ResourceExhausted where it has more tasks than the bound: it is not to be used any more then.
  absl::Status Apply(MesosEvent event);
  // Services that may differ since they were last taken.
  std::set<MesosPlace> TakeChanged() { return std::exchange(changed_, {}); }
  // Nothing where a service has no tasks.
  PlatformPart Make(const MesosPlace& place) const;

 private:
  using Key = std::pair<std::string, std::string>;  // ids of framework and task
  struct Known {
    MesosTask task;
    std::vector<MesosPlace> places;
  };

  void TakeState(MesosEvent event);
  void PutTask(MesosTask task);
  void DropTask(const Key& key);
  void PutFramework(const MesosFramework& framework);
  void Index(const Key& key, Known* known);
  void Unindex(const Key& key, Known* known);
  void NoteAgent(const std::string& id);
  template <class Gone>
  void DropTasks(Gone gone);

  const MesosOptions& options_;
  std::map<std::string, std::string> frameworks_;  // names by id
  std::map<std::string, MesosAgent> agents_;       // by id
  std::map<Key, Known> tasks_;
  std::map<MesosPlace, std::set<Key>> services_;
  std::set<MesosPlace> changed_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_STATE_H_
