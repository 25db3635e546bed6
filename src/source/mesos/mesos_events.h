#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_EVENTS_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/labels.h"
#include "config/read/json_reader.h"

// What a Mesos master's stream of events says, read. Pure. Source: github.com/apache/mesos,
// include/mesos/v1/master/master.proto (Event, Response.GetState), include/mesos/v1/mesos.proto (Task,
// TaskStatus, DiscoveryInfo, NetworkInfo), docs/operator-http-api.md (events in JSON).
namespace fairlead::source {

// Who may discover a service or a port; the later ones see more.
enum class MesosVisibility : uint8_t { kFramework, kCluster, kExternal };

// A port of DiscoveryInfo.
struct MesosPort {
  uint32_t number = 0;
  std::string name, protocol;  // "tcp", "udp", "http"; in lower case; "": not said
  MesosVisibility visibility = MesosVisibility::kFramework;
  LabelMap labels = {};
  friend bool operator==(const MesosPort&, const MesosPort&) = default;
};

// A container's port on its agent.
struct MesosMapping {
  uint32_t host_port = 0, container_port = 0;
  friend bool operator==(const MesosMapping&, const MesosMapping&) = default;
};

struct MesosNetworkAddress {
  std::string network, address;  // the network's name; "": it has none
  friend bool operator==(const MesosNetworkAddress&, const MesosNetworkAddress&) = default;
};

// What the statuses of a task say. A status without health or addresses leaves those of an earlier one.
struct MesosStatus {
  bool running = false;
  bool ended = false;  // it will not run again; a task of that name that comes later is new
  std::optional<bool> healthy = {};
  std::vector<MesosNetworkAddress> addresses = {};
  std::vector<MesosMapping> mappings = {};
  void Add(MesosStatus later);
  friend bool operator==(const MesosStatus&, const MesosStatus&) = default;
};

// A task with DiscoveryInfo.
struct MesosTask {
  std::string framework, id, agent;                  // ids
  std::string name, environment, location, version;  // of the DiscoveryInfo; the name else of the task
  LabelMap labels = {};                              // of the task and of its DiscoveryInfo, which goes first
  std::vector<MesosPort> ports = {};
  std::vector<MesosMapping> mappings = {};  // as its container asks for them
  bool bridged = false;                     // by Docker's bridge: its own address is its agent's alone
  bool has_health_check = false;
  std::string problem = {};  // why it is left out; "": nothing
  MesosStatus status = {};
  friend bool operator==(const MesosTask&, const MesosTask&) = default;
};

struct MesosAgent {
  std::string id, hostname, address, region, zone;  // the IP address by which the master knows it; "": none
  friend bool operator==(const MesosAgent&, const MesosAgent&) = default;
};

struct MesosFramework {
  std::string id, name;
};

struct MesosEvent {
  enum class Type : uint8_t {
    kNothing,    // of no use here
    kState,      // all that there is: tasks, agents, frameworks
    kTask,       // one that is new
    kStatus,     // of a task, by framework and id
    kAgent,      // one, new or changed
    kNoAgent,    // it is gone, by id
    kFramework,  // one, new or changed
    kNoFramework
  };
  Type type = Type::kNothing;
  std::vector<MesosTask> tasks = {};
  std::vector<MesosAgent> agents = {};
  std::vector<MesosFramework> frameworks = {};
  std::string framework = {}, id = {};
  MesosStatus status = {};
  std::optional<double> heartbeat_seconds = {};  // of kState: the interval of heartbeats
};

// Bounds of one task; one with more ports is left out, and says why.
inline constexpr size_t kMostMesosPorts = 64, kMostMesosAddresses = 64, kMostMesosMappings = 256;

// A record. InvalidArgument where it is no event as the master sends them.
absl::StatusOr<MesosEvent> ReadMesosEvent(config::JsonReader& reader, std::string_view record);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_EVENTS_H_
