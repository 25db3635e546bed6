#ifndef FAIRLEAD_SOURCE_MESOS_MESOS_OPTIONS_H_
#define FAIRLEAD_SOURCE_MESOS_MESOS_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/platform/leading_server.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

inline constexpr int kMesosPort = 5050;

// Where a task is reached: kAuto: at its agent where its port is mapped there, else at its own address.
enum class MesosAddress : uint8_t { kAuto, kHost, kContainer };

// What a URL mesos://HOST:5050,…[/PREFIX]?… says. See docs/sources/mesos.md.
struct MesosOptions {
  SourceUrl url;
  PlatformOptions platform;  // the namespace is a template, too
  HttpUser user = {};
  std::set<std::string> frameworks = {}, other_frameworks = {};  // names that count (none: all); that do not
  bool any_health = false;                                       // tasks count whatever their health
  bool ignore_visibility = false;                                // services are visible in all namespaces
  MesosAddress address = MesosAddress::kAuto;
  bool prefer_v6 = false;                      // of a task's addresses; else IPv4
  std::string network_name = {};               // of these that one's; "": any
  std::map<std::string, uint32_t> ports = {};  // numbers by the names of ports; "": of the others
  std::string network = {};                    // of the endpoints

  // Without a byte of the master for so long a stream is given up. SUBSCRIBED says what the master's
  // heartbeats make of it: five times their interval.
  std::chrono::milliseconds silence{75'000};
  std::chrono::milliseconds least_silence{1'000}, most_silence{600'000};
  std::chrono::milliseconds first_backoff{500}, most_backoff{30'000};
  size_t most_record = 256 << 20;  // bytes
  size_t most_tasks = 200'000;     // with DiscoveryInfo
  uint64_t seed = 0;               // of the jitter
};

// InvalidArgument names the option.
absl::StatusOr<MesosOptions> ParseMesosOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MESOS_MESOS_OPTIONS_H_
