#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_ANSWERS_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_ANSWERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/labels.h"
#include "config/read/json_reader.h"

// What Consul's HTTP API answers, read. Pure. Sources: developer.hashicorp.com/consul/api-docs/catalog,
// health, config.
namespace fairlead::source {

// By Consul's names; the worst of an instance's checks counts.
enum class ConsulHealth : uint8_t { kPassing, kWarning, kCritical, kMaintenance };

// One instance of a service.
struct ConsulInstance {
  std::string node, id;  // who it is in its datacenter
  std::string datacenter;
  std::string kind;  // "" for an ordinary service, "connect-proxy", …
  std::string address;
  int port = 0;  // 0: it has none
  // "lan", "wan_ipv6", "virtual", …: of the service, and of its node where the service has no such.
  std::map<std::string, std::pair<std::string, int>, std::less<>> tagged;
  std::vector<std::string> tags;
  LabelMap meta, node_meta;
  std::string region, zone;
  uint32_t passing_weight = 1, warning_weight = 1;
  ConsulHealth health = ConsulHealth::kPassing;

  friend bool operator==(const ConsulInstance&, const ConsulInstance&) = default;
};

// Bounds of one answer; what is beyond them is an error, not left out.
inline constexpr size_t kMostConsulServices = 100'000;
inline constexpr size_t kMostConsulInstances = 50'000;
inline constexpr size_t kMostConsulTags = 256;  // of an instance; likewise of pairs of metadata

// Of /v1/status/leader: whether the server knows a leader; FailedPrecondition: none.
absl::Status CheckConsulLeader(std::string_view text);

// Of /v1/catalog/services: the names, sorted.
absl::StatusOr<std::vector<std::string>> ReadConsulServices(config::JsonReader& reader,
                                                            std::string_view text);

// Of /v1/health/service/NAME: sorted by datacenter, node and id. An instance without a usable address, or
// with a port that is none, is an error of the answer.
absl::StatusOr<std::vector<ConsulInstance>> ReadConsulInstances(config::JsonReader& reader,
                                                                std::string_view text);

// Of /v1/config/service-defaults: the protocol of each service that has one.
absl::StatusOr<std::map<std::string, std::string>> ReadServiceProtocols(config::JsonReader& reader,
                                                                        std::string_view text);
// Of /v1/config/proxy-defaults: the protocol of "global"; "" where it has none.
absl::StatusOr<std::string> ReadDefaultProtocol(config::JsonReader& reader, std::string_view text);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_ANSWERS_H_
