#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_OPTIONS_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kConsulPort = 8500;

// Which instances get requests.
enum class ConsulReady : uint8_t { kWarning, kPassing, kAny };

// What a URL consul://HOST:8500,…?… says. See docs/sources/consul.md.
struct ConsulOptions {
  SourceUrl url;
  PlatformOptions platform;
  std::vector<std::string> datacenters = {};  // none: the agent's own
  std::string ns = {}, partition = {};        // of a server that has them
  std::string filter = {};                    // an expression of Consul's
  std::string consistency = {};               // "stale", "default" or "consistent"
  ConsulReady ready = ConsulReady::kWarning;
  std::string address = {};    // which tagged address, "lan_ipv6"; "": the service's own
  std::string network = {};    // of the instances, as a template with {dc}
  uint32_t port = 0;           // of services whose instances have different ports; 0: the lowest of these
  size_t watches = 0;          // questions at once
  size_t whole_at_once = 128;  // of these, questions for what is there already: more only hinder each other
  bool intentions = false;     // whether they become AuthorizationPolicies
  bool allowed_by_default = false;   // what no intention is about
  std::string intention_label = {};  // of workloads: the name of their service
  std::string principal = {};        // of a source, as a template with {name} and {namespace}
  bool plain_tags = true;            // a tag without a value is a label with the value "true"

  std::chrono::milliseconds wait{300'000};       // of a blocking query; up to a sixteenth more
  std::chrono::milliseconds slack{15'000};       // an answer that much later than it should be is given up
  std::chrono::milliseconds least_interval{50};  // from one answer to the next question of the same
  // Where there are several servers: how often one is asked whether it knows a leader, and for how long.
  std::chrono::milliseconds leader_interval{10'000}, leader_limit{5'000};
  std::chrono::milliseconds round{30'000};  // in which each service has its turn where there are too many
  std::chrono::milliseconds first_backoff{500}, most_backoff{30'000};
  size_t most_bytes = 64 << 20;  // of an answer
  uint64_t seed = 0;             // of the jitter
};

// InvalidArgument names the option.
absl::StatusOr<ConsulOptions> ParseConsulOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_OPTIONS_H_
