#include "source/mesos/mesos_state.h"

#include "base/strings.h"

namespace fairlead::source {

using Type = MesosEvent::Type;

template <class Gone>
void MesosState::DropTasks(Gone gone) {
  std::vector<Key> keys;
  for (const auto& [key, known] : tasks_) {
    if (gone(known.task)) keys.push_back(key);
  }
  for (const Key& key : keys) DropTask(key);
}

absl::Status MesosState::Apply(MesosEvent event) {
  switch (event.type) {
    case Type::kNothing:
      break;
    case Type::kState:
      TakeState(std::move(event));
      break;
    case Type::kTask:
      for (MesosTask& task : event.tasks) PutTask(std::move(task));
      break;
    case Type::kStatus: {
      const auto it = tasks_.find({event.framework, event.id});
      if (it == tasks_.end()) break;
      it->second.task.status.Add(std::move(event.status));
      changed_.insert(it->second.places.begin(), it->second.places.end());
      if (it->second.task.status.ended) DropTask(Key(it->first));
      break;
    }
    case Type::kAgent:
      for (MesosAgent& agent : event.agents) {
        NoteAgent(agent.id);
        agents_.insert_or_assign(agent.id, std::move(agent));
      }
      break;
    case Type::kNoAgent:
      DropTasks([&event](const MesosTask& task) { return task.agent == event.id; });
      agents_.erase(event.id);
      break;
    case Type::kFramework:
      for (const MesosFramework& framework : event.frameworks) PutFramework(framework);
      break;
    case Type::kNoFramework:
      DropTasks([&event](const MesosTask& task) { return task.framework == event.framework; });
      frameworks_.erase(event.framework);
      break;
  }
  if (tasks_.size() <= options_.most_tasks) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      ToAbsl(StrCat("more than ", options_.most_tasks, " tasks have DiscoveryInfo")));
}

// What is not in it any more has no place there, and so is changed, too.
void MesosState::TakeState(MesosEvent event) {
  for (const auto& [place, keys] : services_) changed_.insert(place);
  services_.clear();
  tasks_.clear();
  agents_.clear();
  frameworks_.clear();
  for (const MesosFramework& framework : event.frameworks) frameworks_[framework.id] = framework.name;
  for (MesosAgent& agent : event.agents) agents_.insert_or_assign(agent.id, std::move(agent));
  for (MesosTask& task : event.tasks) PutTask(std::move(task));
}

void MesosState::PutTask(MesosTask task) {
  const Key key(task.framework, task.id);
  DropTask(key);
  if (task.status.ended) return;
  Known& known = tasks_[key];
  known.task = std::move(task);
  Index(key, &known);
}

void MesosState::DropTask(const Key& key) {
  const auto it = tasks_.find(key);
  if (it == tasks_.end()) return;
  Unindex(key, &it->second);
  tasks_.erase(it);
}

// Tasks may be known before their framework is.
void MesosState::PutFramework(const MesosFramework& framework) {
  const auto [it, added] = frameworks_.emplace(framework.id, framework.name);
  if (!added && it->second == framework.name) return;
  it->second = framework.name;
  for (auto at = tasks_.lower_bound({framework.id, ""});
       at != tasks_.end() && at->first.first == framework.id; ++at) {
    Unindex(at->first, &at->second);
    Index(at->first, &at->second);
  }
}

void MesosState::Index(const Key& key, Known* known) {
  const auto framework = frameworks_.find(key.first);
  if (framework == frameworks_.end()) return;
  known->places = MesosPlacesOf(options_, framework->second, known->task);
  for (const MesosPlace& place : known->places) {
    services_[place].insert(key);
    changed_.insert(place);
  }
}

void MesosState::Unindex(const Key& key, Known* known) {
  for (const MesosPlace& place : std::exchange(known->places, {})) {
    changed_.insert(place);
    const auto it = services_.find(place);
    it->second.erase(key);
    if (it->second.empty()) services_.erase(it);
  }
}

void MesosState::NoteAgent(const std::string& id) {
  for (const auto& [key, known] : tasks_) {
    if (known.task.agent == id) changed_.insert(known.places.begin(), known.places.end());
  }
}

PlatformPart MesosState::Make(const MesosPlace& place) const {
  const auto it = services_.find(place);
  if (it == services_.end()) return {};
  std::vector<MesosPlacedTask> tasks;
  for (const Key& key : it->second) {
    const MesosTask& task = tasks_.at(key).task;
    const auto agent = agents_.find(task.agent);
    tasks.push_back({&task, agent == agents_.end() ? nullptr : &agent->second});
  }
  return MakeMesosEntries(options_, place, tasks);
}

}  // namespace fairlead::source
