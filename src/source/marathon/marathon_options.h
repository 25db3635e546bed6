#ifndef FAIRLEAD_SOURCE_MARATHON_MARATHON_OPTIONS_H_
#define FAIRLEAD_SOURCE_MARATHON_MARATHON_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/platform/leading_server.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kMarathonPort = 8080;

// Where an instance with an address of its own and a port on its host is reached.
enum class MarathonAddress : uint8_t { kAuto, kHost, kContainer };

// What a URL marathon://HOST:8080,…[/PREFIX]?… says. See docs/sources/marathon.md.
struct MarathonOptions {
  SourceUrl url;
  PlatformOptions platform;  // the namespace is a template, too
  HttpUser user = {};
  bool any_health = false;  // instances count whatever their health
  MarathonAddress address = MarathonAddress::kAuto;
  bool container_ports = false;  // the service has the container's port in place of the service port
  std::string network = {};      // of the instances

  std::chrono::milliseconds answer{30'000};  // time limit of an answer
  // A stream of events without a byte for so long is given up. Marathon sends one every ten seconds.
  std::chrono::milliseconds silence{45'000};
  std::chrono::milliseconds least_interval{100};  // from one answer to the next question about the same
  std::chrono::milliseconds second_look{1'000};   // after an event, as what is behind it may come later
  std::chrono::milliseconds readiness{3'000};     // between looks at readiness, of which no event tells
  std::chrono::milliseconds first_backoff{500}, most_backoff{30'000};
  size_t most_bytes = 256 << 20;  // of an answer
  size_t most_at_once = 16;       // questions
  uint64_t seed = 0;              // of the jitter
};

// InvalidArgument names the option.
absl::StatusOr<MarathonOptions> ParseMarathonOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MARATHON_MARATHON_OPTIONS_H_
