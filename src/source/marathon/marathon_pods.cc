// Statuses of pods, with their definitions.
#include <utility>

#include "base/strings.h"
#include "source/marathon/marathon_answers.h"
#include "source/marathon/marathon_parts.h"

namespace fairlead::source {
namespace {

using config::Node;

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(ToAbsl(text)); }

struct PodPort {
  std::string container, endpoint;
  std::vector<std::string> networks;
};

std::vector<PodPort> ReadEndpoints(Node spec, MarathonService* service) {
  std::vector<PodPort> ports;
  for (const Node container : spec.Find("containers").elements()) {
    if (container.Find("healthCheck").IsMapping()) service->has_health_checks = true;
    for (const Node endpoint : container.Find("endpoints").elements()) {
      MarathonPort port = ReadMarathonPort(endpoint);
      port.container_port = MarathonPortNumber(endpoint.Find("containerPort"));
      ports.push_back({std::string(container.Find("name").String()), port.name,
                       ReadMarathonTexts(endpoint.Find("networkNames"))});
      service->ports.push_back(std::move(port));
    }
  }
  return ports;
}

Node Named(Node list, std::string_view name) {
  for (const Node one : list.elements()) {
    if (one.Find("name").String() == name) return one;
  }
  return {};
}

// An instance that is not stable counts where the containers behind its endpoints run and are not sick.
void ReadContainer(Node container, Node endpoint, bool stable, MarathonInstance* instance) {
  if (!stable && container.Find("status").String() != "TASK_RUNNING") instance->running = false;
  const Node healthy = endpoint.Find("healthy");
  if (healthy.IsNull()) return;
  if (!healthy.Bool()) {
    instance->health = MarathonHealth::kBad;
  } else if (instance->health == MarathonHealth::kUnknown) {
    instance->health = MarathonHealth::kGood;
  }
}

MarathonInstance ReadInstance(Node node, bool on_host, const MarathonService& service,
                              const std::vector<PodPort>& ports) {
  MarathonInstance instance;
  instance.id = node.Find("id").String();
  instance.host = node.Find("agentHostname").String();
  instance.region = node.Find("agentRegion").String();
  instance.zone = node.Find("agentZone").String();
  const std::string_view status = node.Find("status").String();
  instance.running = status == "STABLE" || status == "DEGRADED";
  std::vector<std::string> names, addresses;
  for (const Node network : node.Find("networks").elements()) {
    names.emplace_back(network.Find("name").String());
    addresses.push_back(MarathonAddressOn({}, ReadMarathonTexts(network.Find("addresses")), {}));
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const Node container = Named(node.Find("containers"), ports[i].container);
    const Node endpoint = Named(container.Find("endpoints"), ports[i].endpoint);
    ReadContainer(container, endpoint, status == "STABLE", &instance);
    MarathonInstance::Place place;
    place.host_port = MarathonPortNumber(endpoint.Find("allocatedHostPort"));
    if (!on_host) {
      place.container = MarathonAddressOn(names, addresses, ports[i].networks);
      place.container_port =
          service.ports[i].container_port == 0 ? place.host_port : service.ports[i].container_port;
    }
    instance.places.push_back(std::move(place));
  }
  return instance;
}

absl::StatusOr<MarathonService> ReadPod(Node pod) {
  MarathonService service;
  service.is_pod = true;
  service.id = pod.Find("id").String();
  if (!IsMarathonId(service.id)) return Wrong("a pod has no id that begins with a slash");
  const Node spec = pod.Find("spec"), instances = pod.Find("instances");
  service.version = spec.Find("version").String();
  service.labels = ReadMarathonLabels(spec.Find("labels"));
  const std::vector<PodPort> ports = ReadEndpoints(spec, &service);
  if (ports.size() > kMostMarathonPorts)
    return Wrong(StrCat("pod ", service.id, " has more than ", kMostMarathonPorts, " endpoints"));
  if (instances.size() > kMostMarathonInstances)
    return Wrong(StrCat("pod ", service.id, " has more than ", kMostMarathonInstances, " instances"));
  const Node networks = spec.Find("networks");
  const std::string_view mode =
      networks.size() == 0 ? "host" : networks.At(0).Find("mode").String("container");
  for (const Node one : instances.elements()) {
    MarathonInstance instance = ReadInstance(one, mode != "container", service, ports);
    if (instance.id.empty()) return Wrong(StrCat("an instance of pod ", service.id, " has no id"));
    service.instances.push_back(std::move(instance));
  }
  SortMarathonInstances(&service);
  return service;
}

}  // namespace

absl::StatusOr<std::vector<MarathonService>> ReadMarathonPods(config::JsonReader& reader,
                                                              std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  if (!tree->root().IsSequence()) return Wrong("the list of pods is no list");
  if (tree->root().size() > kMostMarathonServices)
    return Wrong(StrCat("more than ", kMostMarathonServices, " pods"));
  std::vector<MarathonService> services;
  for (const Node pod : tree->root().elements()) {
    auto service = ReadPod(pod);
    if (!service.ok()) return service.status();
    services.push_back(*std::move(service));
  }
  return services;
}

absl::StatusOr<MarathonService> ReadMarathonPod(config::JsonReader& reader, std::string_view text) {
  const absl::StatusOr<config::Tree> tree = reader.Read(text);
  if (!tree.ok()) return tree.status();
  return ReadPod(tree->root());
}

}  // namespace fairlead::source
