#ifndef FAIRLEAD_AGENT_BOOTSTRAP_PLATFORM_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_PLATFORM_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/options.h"

namespace fairlead::agent {

// The cloud that a workload runs in, as its metadata server describes it.
struct Platform {
  std::map<std::string, std::string> metadata;  // "gcp_project", "aws_region", …
  std::string locality;                         // "region/zone"; "": not known
};

// Asks a metadata server: the body of an answer with status 200, none otherwise. `limit` bounds it.
struct MetadataQuestion {
  std::string method, url;
  std::vector<std::string> headers;
  std::chrono::milliseconds limit;
};
using AskMetadata = std::function<std::optional<std::string>(const MetadataQuestion&)>;

// The facts of a machine that tell its cloud: the texts of /sys/class/dmi/id and of /etc/resolv.conf.
struct MachineFacts {
  std::string vendor, product, resolver;
};
MachineFacts ReadMachineFacts();

// The platform by CLOUD_PLATFORM (aws, azure, gcp, none), else by GCP_METADATA, else by the machine's own
// facts; nothing is asked on other machines. All questions together take five seconds at most where
// CLOUD_PLATFORM names the platform, else one second. `ipv6`: the workload has addresses of IPv6.
// Source: pilot-agent's pkg/bootstrap/platform; the manuals of the three clouds' metadata servers.
Platform FindPlatform(const Environment& environment, const MachineFacts& facts, bool ipv6,
                      const AskMetadata& ask);

// Over HTTP, without a proxy.
std::optional<std::string> AskMetadataServer(const MetadataQuestion& question);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_PLATFORM_H_
