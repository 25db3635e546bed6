#ifndef FAIRLEAD_SOURCE_SRV_SRV_OPTIONS_H_
#define FAIRLEAD_SOURCE_SRV_SRV_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dns/socket_address.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

// A service that DNS says by SRV records: "_http._tcp.web.example.com:8080".
struct SrvName {
  std::string name;                        // the whole of it, in lower case
  std::string service, transport, domain;  // "http", "tcp", "web.example.com"
  uint32_t port = 0;                       // of the service; 0: the one of its first record
};

// What a URL dns+srv://NAME[:PORT],…?… says. See docs/sources/dns.md.
struct SrvOptions {
  SourceUrl url;
  PlatformOptions platform;  // of these the namespace and the names
  std::vector<SrvName> names = {};
  std::vector<dns::SocketAddress> resolvers = {};  // none: those of the file
  std::string resolver_file = "/etc/resolv.conf";
  bool all_priorities = false;
  std::string network = {}, locality = {};
  std::chrono::milliseconds least{5'000},
      most{300'000};                        // bounds of the time until a name is asked for again
  std::chrono::milliseconds answer{3'000};  // time limit of one resolver
  std::chrono::milliseconds first_backoff{1'000}, most_backoff{30'000};
  // A service that was there is gone after so many answers in a row without it.
  size_t absences = 2;
  uint64_t seed = 0;  // of the jitter

  // "dns+srv://_http._tcp.web.example.com,…", for people and metrics.
  std::string Name() const;
};

// InvalidArgument names the option or the name.
absl::StatusOr<SrvOptions> ParseSrvOptions(std::string_view url);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_SRV_SRV_OPTIONS_H_
