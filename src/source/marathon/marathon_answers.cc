#include "source/marathon/marathon_answers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "source/marathon/marathon_parts.h"

namespace fairlead::source {
namespace {

using config::JsonFields;
using config::Node;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

void AddAppFields(std::string_view root, JsonFields* fields) {
  for (const char* name : {"id", "version", "labels", "networks", "portDefinitions", "ipAddress",
                           "healthChecks", "readinessChecks", "readinessCheckResults", "deployments"})
    fields->Only({root, name});
  fields->Only({root, "container", "portMappings"});
  fields->Only({root, "container", "docker", "portMappings"});
  fields->Only({root, "container", "docker", "network"});
  for (const char* name : {"id", "host", "ports", "ipAddresses", "state", "version", "region", "zone"})
    fields->Only({root, "tasks", name});
  fields->Only({root, "tasks", "healthCheckResults", "alive"});
}

const JsonFields& AppFields() {
  static const JsonFields fields = [] {
    JsonFields wanted;
    AddAppFields("apps", &wanted);
    AddAppFields("app", &wanted);
    return wanted;
  }();
  return fields;
}

enum class Mode : uint8_t { kHost, kBridge, kContainer };

// Before 1.5 the container said it.
Mode ModeOf(Node app) {
  const Node networks = app.Find("networks");
  if (networks.size() > 0) {
    const std::string_view mode = networks.At(0).Find("mode").String("container");
    return mode == "host" ? Mode::kHost : mode == "container/bridge" ? Mode::kBridge : Mode::kContainer;
  }
  const std::string_view network = app.Find("container").Find("docker").Find("network").String();
  if (network == "BRIDGE") return Mode::kBridge;
  return network == "USER" || app.Find("ipAddress").IsMapping() ? Mode::kContainer : Mode::kHost;
}

struct Mapping {
  bool on_host = false;                    // it has a port there
  std::vector<std::string> networks = {};  // whose address it is for; none: of any
};

// The ports of an app by its mode, and how each is mapped.
absl::Status ReadPorts(Node app, Mode mode, MarathonService* service, std::vector<Mapping>* mappings) {
  if (mode == Mode::kHost) {
    for (const Node one : app.Find("portDefinitions").elements()) {
      MarathonPort port = ReadMarathonPort(one);
      port.service_port = MarathonPortNumber(one.Find("port"));
      service->ports.push_back(std::move(port));
      mappings->push_back({.on_host = true});
    }
  } else {
    Node list = app.Find("container").Find("portMappings");
    if (!list.IsSequence()) list = app.Find("container").Find("docker").Find("portMappings");
    for (const Node one : list.elements()) {
      MarathonPort port = ReadMarathonPort(one);
      port.service_port = MarathonPortNumber(one.Find("servicePort"));
      port.container_port = MarathonPortNumber(one.Find("containerPort"));
      service->ports.push_back(std::move(port));
      mappings->push_back({.on_host = mode == Mode::kBridge || !one.Find("hostPort").IsNull(),
                           .networks = ReadMarathonTexts(one.Find("networkNames"))});
    }
    for (const Node one : app.Find("ipAddress").Find("discovery").Find("ports").elements()) {
      if (list.size() > 0) break;
      MarathonPort port = ReadMarathonPort(one);
      port.container_port = MarathonPortNumber(one.Find("number"));
      service->ports.push_back(std::move(port));
      mappings->push_back({});
    }
  }
  if (service->ports.size() > kMostMarathonPorts)
    return Wrong(StrCat("app ", service->id, " has more than ", kMostMarathonPorts, " ports"));
  return absl::OkStatus();
}

MarathonHealth HealthOf(Node results) {
  MarathonHealth health = MarathonHealth::kUnknown;
  for (const Node result : results.elements()) {
    if (!result.IsMapping()) continue;
    if (!result.Find("alive").Bool()) return MarathonHealth::kBad;
    health = MarathonHealth::kGood;
  }
  return health;
}

// Host ports are listed for those mappings alone that have one, in their order.
MarathonInstance ReadTask(Node task, Mode mode, const MarathonService& service,
                          const std::vector<std::string>& networks, const std::vector<Mapping>& mappings) {
  MarathonInstance instance;
  instance.id = task.Find("id").String();
  instance.version = task.Find("version").String();
  instance.host = task.Find("host").String();
  instance.region = task.Find("region").String();
  instance.zone = task.Find("zone").String();
  // A version before 0.16 says no state, and lists running tasks alone.
  instance.running = task.Find("state").String("TASK_RUNNING") == "TASK_RUNNING";
  instance.health = HealthOf(task.Find("healthCheckResults"));
  std::vector<uint32_t> host_ports;
  for (const Node port : task.Find("ports").elements()) host_ports.push_back(MarathonPortNumber(port));
  std::vector<std::string> addresses;
  for (const Node one : task.Find("ipAddresses").elements())
    addresses.emplace_back(one.Find("ipAddress").String());
  size_t next = 0;
  for (size_t i = 0; i < mappings.size(); ++i) {
    MarathonInstance::Place place;
    if (mappings[i].on_host && next < host_ports.size()) place.host_port = host_ports[next++];
    if (mode == Mode::kContainer) {
      place.container = MarathonAddressOn(networks, addresses, mappings[i].networks);
      place.container_port =
          service.ports[i].container_port == 0 ? place.host_port : service.ports[i].container_port;
    }
    instance.places.push_back(std::move(place));
  }
  return instance;
}

absl::StatusOr<MarathonService> ReadApp(Node app) {
  MarathonService service;
  service.id = app.Find("id").String();
  service.version = app.Find("version").String();
  if (!IsMarathonId(service.id)) return Wrong("an app has no id that begins with a slash");
  service.labels = ReadMarathonLabels(app.Find("labels"));
  service.has_health_checks = app.Find("healthChecks").size() > 0;
  service.has_readiness_checks = app.Find("readinessChecks").size() > 0;
  service.deploying = app.Find("deployments").size() > 0;
  const Mode mode = ModeOf(app);
  std::vector<Mapping> mappings;
  if (absl::Status status = ReadPorts(app, mode, &service, &mappings); !status.ok()) return status;
  const Node tasks = app.Find("tasks");
  if (tasks.size() > kMostMarathonInstances)
    return Wrong(StrCat("app ", service.id, " has more than ", kMostMarathonInstances, " tasks"));
  std::map<std::string_view, bool> ready;
  for (const Node result : app.Find("readinessCheckResults").elements()) {
    const auto [it, added] = ready.emplace(result.Find("taskId").String(), result.Find("ready").Bool());
    if (!added) it->second = it->second && result.Find("ready").Bool();
  }
  std::vector<std::string> networks;
  for (const Node network : app.Find("networks").elements())
    networks.emplace_back(network.Find("name").String());
  for (const Node task : tasks.elements()) {
    MarathonInstance instance = ReadTask(task, mode, service, networks, mappings);
    if (instance.id.empty()) return Wrong(StrCat("a task of app ", service.id, " has no id"));
    if (const auto it = ready.find(instance.id); it != ready.end()) instance.ready = it->second;
    service.instances.push_back(std::move(instance));
  }
  SortMarathonInstances(&service);
  return service;
}

}  // namespace

absl::StatusOr<std::vector<MarathonService>> ReadMarathonApps(config::JsonReader& reader,
                                                              std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text, &AppFields());
  if (!tree.ok()) return tree.status();
  const Node apps = tree->Find("apps");
  if (!apps.IsSequence()) return Wrong("the answer has no list of apps");
  if (apps.size() > kMostMarathonServices) return Wrong(StrCat("more than ", kMostMarathonServices, " apps"));
  std::vector<MarathonService> services;
  for (const Node app : apps.elements()) {
    auto service = ReadApp(app);
    if (!service.ok()) return service.status();
    services.push_back(*std::move(service));
  }
  return services;
}

absl::StatusOr<MarathonService> ReadMarathonApp(config::JsonReader& reader, std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text, &AppFields());
  if (!tree.ok()) return tree.status();
  return ReadApp(tree->Find("app"));
}

}  // namespace fairlead::source
