#ifndef FAIRLEAD_SOURCE_CONSUL_CONSUL_INTENTIONS_H_
#define FAIRLEAD_SOURCE_CONSUL_CONSUL_INTENTIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "config/read/json_reader.h"
#include "source/consul/consul_options.h"
#include "source/platform/platform_view.h"

// Consul's intentions as AuthorizationPolicies. Pure. Sources:
// developer.hashicorp.com/consul/docs/reference/config-entry/service-intentions; istio.io
// AuthorizationPolicy.
namespace fairlead::source {

// What a permission says of one request, all of it; "" and none: anything.
struct ConsulPermission {
  bool allow = false;
  std::string path_exact = {}, path_prefix = {};
  std::vector<std::string> methods = {};
  struct Header {
    std::string name, value;  // value: as Istio matches, "x", "x*", "*x" or "*"
    bool invert = false;
    friend bool operator==(const Header&, const Header&) = default;
  };
  std::vector<Header> headers = {};
  friend bool operator==(const ConsulPermission&, const ConsulPermission&) = default;
};

// What one source may do at one destination.
struct ConsulIntention {
  bool allow = false;
  std::vector<ConsulPermission> permissions = {};  // in their order; then `allow` says nothing
  std::string unknown = {};                        // what of it has no counterpart; then it allows nothing
  friend bool operator==(const ConsulIntention&, const ConsulIntention&) = default;
};

// By destination and source, "*" for all others.
using ConsulIntentions = std::map<std::string, std::map<std::string, ConsulIntention>>;

inline constexpr size_t kMostConsulIntentions = 200'000;  // in all
inline constexpr size_t kMostIntentionRules = 256;        // of one policy

// Of /v1/config/service-intentions. An entry that cannot be understood is an error of the answer: what is
// left out might deny.
absl::StatusOr<ConsulIntentions> ReadConsulIntentions(config::JsonReader& reader, std::string_view text);

// The policy of a service: it alone decides about the service's workloads. No object where everything is
// allowed.
PlatformPart MakeIntentionPolicy(const ConsulOptions& options, const ConsulIntentions& intentions,
                                 const std::string& service);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_CONSUL_CONSUL_INTENTIONS_H_
