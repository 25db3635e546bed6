#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_ANSWERS_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/labels.h"
#include "config/read/json_reader.h"

// What Marathon's HTTP API answers, read. Pure. Source: docs/docs/rest-api/public/api/v2 of
// github.com/mesosphere/marathon: apps.raml, pods.raml, types/app.raml, task.raml, network.raml,
// podStatus.raml; docs/networking.md for what ports mean.
namespace fairlead::source {

// A port definition, a port mapping, or an endpoint of a pod.
struct MarathonPort {
  std::string name, protocol;  // "tcp", "udp", "udp,tcp"; of the definition, as it is written
  LabelMap labels;
  uint32_t service_port = 0, container_port = 0;  // 0: none
  friend bool operator==(const MarathonPort&, const MarathonPort&) = default;
};

enum class MarathonHealth : uint8_t { kUnknown, kGood, kBad };

// A task of an app, or an instance of a pod.
struct MarathonInstance {
  // A port of it. 0 and "": it has none there.
  struct Place {
    std::string container;  // its own address
    uint32_t host_port = 0, container_port = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::string id, version, host, region, zone;
  bool running = false;
  MarathonHealth health = MarathonHealth::kUnknown;
  std::optional<bool> ready = {};  // of its readiness checks; nothing: no result
  std::vector<Place> places = {};  // one for each port of the service
  friend bool operator==(const MarathonInstance&, const MarathonInstance&) = default;
};

// An app or a pod.
struct MarathonService {
  std::string id, version;  // "/shop/web"
  bool is_pod = false;
  LabelMap labels = {};
  std::vector<MarathonPort> ports = {};
  bool has_health_checks = false, has_readiness_checks = false;
  bool deploying = false;
  std::vector<MarathonInstance> instances = {};  // sorted by id
  friend bool operator==(const MarathonService&, const MarathonService&) = default;
};

// Bounds of one answer; what is beyond them is an error, not left out.
inline constexpr size_t kMostMarathonServices = 50'000;
inline constexpr size_t kMostMarathonInstances = 50'000;  // of a service
inline constexpr size_t kMostMarathonPorts = 64;          // likewise

// GET /v2/apps?embed=apps.tasks&embed=apps.readiness&embed=apps.deployments
absl::StatusOr<std::vector<MarathonService>> ReadMarathonApps(config::JsonReader& reader,
                                                              std::string_view text);
// GET /v2/apps/{id}
absl::StatusOr<MarathonService> ReadMarathonApp(config::JsonReader& reader, std::string_view text);
// GET /v2/pods::status
absl::StatusOr<std::vector<MarathonService>> ReadMarathonPods(config::JsonReader& reader,
                                                              std::string_view text);
// GET /v2/pods/{id}::status
absl::StatusOr<MarathonService> ReadMarathonPod(config::JsonReader& reader, std::string_view text);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_ANSWERS_H_
