#include "source/mesos/mesos_events.h"

#include <set>
#include <utility>

#include "base/excerpt.h"
#include "base/ip_address.h"
#include "base/strings.h"
#include "source/mesos/mesos_fields.h"

namespace fairlead::source {
namespace {

using config::Node;
using Type = MesosEvent::Type;

constexpr size_t kMostPairs = 256;
constexpr size_t kLongestId = 1'024;
constexpr uint64_t kMostPort = 65'535;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

std::string IdOf(Node node) { return std::string(node.Find("value").String()); }
bool IsId(std::string_view id) { return !id.empty() && id.size() <= kLongestId; }

uint32_t PortNumber(Node node) {
  const uint64_t number = node.Unsigned().value_or(0);
  return number > kMostPort ? 0 : static_cast<uint32_t>(number);
}

// {"labels": [{"key": …, "value": …}]}; a label without a value has an empty one.
void AddLabels(Node node, LabelMap* labels) {
  for (const Node one : node.Find("labels").elements()) {
    if (labels->size() == kMostPairs) break;
    if (const std::string_view key = one.Find("key").String(); !key.empty())
      labels->insert_or_assign(std::string(key), std::string(one.Find("value").String()));
  }
}

MesosVisibility VisibilityOf(Node node, MesosVisibility fallback) {
  const std::string_view text = node.String();
  if (text == "CLUSTER") return MesosVisibility::kCluster;
  if (text == "EXTERNAL") return MesosVisibility::kExternal;
  return text == "FRAMEWORK" ? MesosVisibility::kFramework : fallback;
}

void AddMappings(Node list, std::vector<MesosMapping>* mappings) {
  for (const Node one : list.elements()) {
    if (mappings->size() == kMostMesosMappings) break;
    const MesosMapping mapping{PortNumber(one.Find("host_port")), PortNumber(one.Find("container_port"))};
    if (mapping.host_port > 0 && mapping.container_port > 0) mappings->push_back(mapping);
  }
}

// Source: TaskState of mesos.proto. A task on an agent that the master lost is added anew when that is back.
bool HasEnded(std::string_view state) {
  static const std::set<std::string_view> going_on = {"TASK_STAGING", "TASK_STARTING", "TASK_RUNNING",
                                                      "TASK_KILLING"};
  return !going_on.contains(state);
}

MesosStatus ReadStatus(Node node, std::string_view state) {
  MesosStatus status;
  status.running = state == "TASK_RUNNING";
  status.ended = HasEnded(state);
  if (const Node healthy = node.Find("healthy"); healthy.type() == config::NodeType::kBool)
    status.healthy = healthy.Bool();
  for (const Node info : node.Find("container_status").Find("network_infos").elements()) {
    const std::string name(info.Find("name").String());
    for (const Node one : info.Find("ip_addresses").elements()) {
      const std::string_view address = one.Find("ip_address").String();
      if (status.addresses.size() < kMostMesosAddresses && IsIpAddress(address))
        status.addresses.push_back({name, std::string(address)});
    }
    AddMappings(info.Find("port_mappings"), &status.mappings);
  }
  return status;
}

void ReadPorts(Node discovery, MesosTask* task) {
  const MesosVisibility visibility = VisibilityOf(discovery.Find("visibility"), MesosVisibility::kFramework);
  const Node list = discovery.Find("ports").Find("ports");
  if (list.size() > kMostMesosPorts) {
    task->problem = StrCat("has more than ", kMostMesosPorts, " ports");
    return;
  }
  for (const Node one : list.elements()) {
    MesosPort port;
    port.number = PortNumber(one.Find("number"));
    port.name = AsciiLower(one.Find("name").String());
    port.protocol = AsciiLower(one.Find("protocol").String());
    port.visibility = VisibilityOf(one.Find("visibility"), visibility);
    AddLabels(one.Find("labels"), &port.labels);
    task->ports.push_back(std::move(port));
  }
}

void ReadDiscovery(Node discovery, MesosTask* task) {
  const std::string_view name = discovery.Find("name").String();
  if (!name.empty()) task->name = name;
  task->environment = discovery.Find("environment").String();
  task->location = discovery.Find("location").String();
  task->version = discovery.Find("version").String();
  AddLabels(discovery.Find("labels"), &task->labels);
  ReadPorts(discovery, task);
}

// A task without DiscoveryInfo is none for others to find.
absl::Status ReadTask(Node node, std::vector<MesosTask>* tasks) {
  MesosTask task;
  task.id = IdOf(node.Find("task_id"));
  task.framework = IdOf(node.Find("framework_id"));
  task.agent = IdOf(node.Find("agent_id"));
  if (!IsId(task.id) || !IsId(task.framework)) return Wrong("a task has no task_id or no framework_id");
  const Node discovery = node.Find("discovery");
  if (!discovery.IsMapping()) return absl::OkStatus();
  task.name = node.Find("name").String();
  AddLabels(node.Find("labels"), &task.labels);
  ReadDiscovery(discovery, &task);
  const Node container = node.Find("container"), docker = container.Find("docker");
  task.bridged = docker.Find("network").String() == "BRIDGE";
  AddMappings(docker.Find("port_mappings"), &task.mappings);
  for (const Node info : container.Find("network_infos").elements())
    AddMappings(info.Find("port_mappings"), &task.mappings);
  task.has_health_check = node.Find("health_check").IsMapping();
  const std::string_view state = node.Find("state").String();
  for (const Node one : node.Find("statuses").elements()) task.status.Add(ReadStatus(one, state));
  task.status.Add(ReadStatus(Node(), state));
  tasks->push_back(std::move(task));
  return absl::OkStatus();
}

// "slave(1)@10.0.0.5:5051", "slave(1)@[::1]:5051".
std::string AddressOfPid(std::string_view pid) {
  const size_t at = pid.find('@');
  const size_t colon = pid.rfind(':');
  if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) return "";
  std::string_view host = pid.substr(at + 1, colon - at - 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::Parse(host);
  return address && !address->is_unspecified() ? std::string(host) : "";
}

absl::Status ReadAgent(Node info, Node pid, std::vector<MesosAgent>* agents) {
  MesosAgent agent;
  agent.id = IdOf(info.Find("id"));
  if (!IsId(agent.id)) return Wrong("an agent has no id");
  agent.hostname = info.Find("hostname").String();
  agent.address = AddressOfPid(pid.String());
  const Node domain = info.Find("domain").Find("fault_domain");
  agent.region = domain.Find("region").Find("name").String();
  agent.zone = domain.Find("zone").Find("name").String();
  agents->push_back(std::move(agent));
  return absl::OkStatus();
}

absl::Status ReadFramework(Node info, std::vector<MesosFramework>* frameworks) {
  MesosFramework framework{IdOf(info.Find("id")), std::string(info.Find("name").String())};
  if (!IsId(framework.id)) return Wrong("a framework has no id");
  frameworks->push_back(std::move(framework));
  return absl::OkStatus();
}

absl::Status ReadState(Node subscribed, MesosEvent* event) {
  event->heartbeat_seconds = subscribed.Find("heartbeat_interval_seconds").Double();
  const Node state = subscribed.Find("get_state");
  if (!state.IsMapping()) return Wrong("SUBSCRIBED has no get_state");
  absl::Status status;
  for (const Node one : state.Find("get_frameworks").Find("frameworks").elements())
    status.Update(ReadFramework(one.Find("framework_info"), &event->frameworks));
  // Of agents that have not come back since another master led, the master knows no address.
  for (const Node one : state.Find("get_agents").Find("recovered_agents").elements())
    status.Update(ReadAgent(one, Node(), &event->agents));
  for (const Node one : state.Find("get_agents").Find("agents").elements())
    status.Update(ReadAgent(one.Find("agent_info"), one.Find("pid"), &event->agents));
  for (const Node one : state.Find("get_tasks").Find("tasks").elements())
    status.Update(ReadTask(one, &event->tasks));
  return status;
}

absl::Status ReadUpdate(Node updated, MesosEvent* event) {
  const Node status = updated.Find("status");
  event->framework = IdOf(updated.Find("framework_id"));
  event->id = IdOf(status.Find("task_id"));
  if (!IsId(event->id) || !IsId(event->framework))
    return Wrong("TASK_UPDATED has no task_id or no framework_id");
  event->status = ReadStatus(status, updated.Find("state").String(status.Find("state").String()));
  return absl::OkStatus();
}

Type TypeOf(std::string_view text) {
  static const std::pair<std::string_view, Type> types[] = {{"SUBSCRIBED", Type::kState},
                                                            {"TASK_ADDED", Type::kTask},
                                                            {"TASK_UPDATED", Type::kStatus},
                                                            {"AGENT_ADDED", Type::kAgent},
                                                            {"AGENT_REMOVED", Type::kNoAgent},
                                                            {"FRAMEWORK_ADDED", Type::kFramework},
                                                            {"FRAMEWORK_UPDATED", Type::kFramework},
                                                            {"FRAMEWORK_REMOVED", Type::kNoFramework}};
  for (const auto& [name, type] : types) {
    if (name == text) return type;
  }
  return Type::kNothing;
}

absl::Status ReadFields(Node root, MesosEvent* event) {
  switch (event->type) {
    case Type::kNothing:
      return absl::OkStatus();
    case Type::kState:
      return ReadState(root.Find("subscribed"), event);
    case Type::kTask:
      return ReadTask(root.Find("task_added").Find("task"), &event->tasks);
    case Type::kStatus:
      return ReadUpdate(root.Find("task_updated"), event);
    case Type::kAgent: {
      const Node agent = root.Find("agent_added").Find("agent");
      return ReadAgent(agent.Find("agent_info"), agent.Find("pid"), &event->agents);
    }
    case Type::kNoAgent:
      event->id = IdOf(root.Find("agent_removed").Find("agent_id"));
      return IsId(event->id) ? absl::OkStatus() : Wrong("AGENT_REMOVED has no agent_id");
    case Type::kFramework: {
      const Node added = root.Find("framework_added"), updated = root.Find("framework_updated");
      return ReadFramework((added ? added : updated).Find("framework").Find("framework_info"),
                           &event->frameworks);
    }
    case Type::kNoFramework:
      event->framework = IdOf(root.Find("framework_removed").Find("framework_info").Find("id"));
      return IsId(event->framework) ? absl::OkStatus() : Wrong("FRAMEWORK_REMOVED has no id");
  }
  return absl::OkStatus();
}

}  // namespace

void MesosStatus::Add(MesosStatus later) {
  running = later.running;
  ended = later.ended;
  if (later.healthy) healthy = later.healthy;
  if (later.addresses.empty() && later.mappings.empty()) return;
  addresses = std::move(later.addresses);
  mappings = std::move(later.mappings);
}

absl::StatusOr<MesosEvent> ReadMesosEvent(config::JsonReader& reader, std::string_view record) {
  const absl::StatusOr<config::Tree> tree = reader.Read(record, &MesosEventFields());
  if (!tree.ok()) return tree.status();
  const std::string_view type = tree->Find("type").String();
  if (type.empty()) return Wrong("it has no type");
  MesosEvent event;
  event.type = TypeOf(type);
  if (absl::Status status = ReadFields(tree->root(), &event); !status.ok()) return status;
  return event;
}

}  // namespace fairlead::source
