#include "source/mesos/mesos_fields.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::source {
namespace {

using config::JsonFields;

// Of what the path leads to only `below` is read, and beside it nothing on the way.
void OnlyBelow(JsonFields* fields, std::initializer_list<std::string_view> path, JsonFields below) {
  for (const std::string_view key : path) {
    fields->rest = JsonFields::Rest::kSkipped;
    fields = &fields->below[std::string(key)];
  }
  *fields = std::move(below);
}

JsonFields StatusFields() {
  JsonFields fields;
  for (const char* name : {"task_id", "state", "healthy"}) fields.Only({name});
  for (const char* name : {"name", "ip_addresses", "port_mappings"})
    fields.Only({"container_status", "network_infos", name});
  return fields;
}

JsonFields TaskFields() {
  JsonFields fields;
  for (const char* name : {"name", "task_id", "framework_id", "agent_id", "state", "labels", "discovery"})
    fields.Only({name});
  fields.Only({"container", "docker", "network"});
  fields.Only({"container", "docker", "port_mappings"});
  fields.Only({"container", "network_infos", "port_mappings"});
  fields.Only({"health_check", "type"});
  OnlyBelow(&fields, {"statuses"}, StatusFields());
  return fields;
}

JsonFields AgentInfoFields() {
  JsonFields fields;
  for (const char* name : {"id", "hostname", "domain"}) fields.Only({name});
  return fields;
}

JsonFields FrameworkInfoFields() {
  JsonFields fields;
  for (const char* name : {"id", "name"}) fields.Only({name});
  return fields;
}

JsonFields EventFields() {
  JsonFields fields;
  fields.Only({"type"});
  fields.Only({"subscribed", "heartbeat_interval_seconds"});
  OnlyBelow(&fields, {"subscribed", "get_state", "get_tasks", "tasks"}, TaskFields());
  OnlyBelow(&fields, {"subscribed", "get_state", "get_agents", "agents", "agent_info"}, AgentInfoFields());
  fields.Only({"subscribed", "get_state", "get_agents", "agents", "pid"});
  OnlyBelow(&fields, {"subscribed", "get_state", "get_agents", "recovered_agents"}, AgentInfoFields());
  OnlyBelow(&fields, {"subscribed", "get_state", "get_frameworks", "frameworks", "framework_info"},
            FrameworkInfoFields());
  OnlyBelow(&fields, {"task_added", "task"}, TaskFields());
  fields.Only({"task_updated", "framework_id"});
  fields.Only({"task_updated", "state"});
  OnlyBelow(&fields, {"task_updated", "status"}, StatusFields());
  OnlyBelow(&fields, {"agent_added", "agent", "agent_info"}, AgentInfoFields());
  fields.Only({"agent_added", "agent", "pid"});
  fields.Only({"agent_removed", "agent_id"});
  for (const char* name : {"framework_added", "framework_updated"})
    OnlyBelow(&fields, {name, "framework", "framework_info"}, FrameworkInfoFields());
  OnlyBelow(&fields, {"framework_removed", "framework_info"}, FrameworkInfoFields());
  return fields;
}

}  // namespace

const JsonFields& MesosEventFields() {
  static const JsonFields fields = EventFields();
  return fields;
}

}  // namespace fairlead::source
