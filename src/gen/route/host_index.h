#ifndef FAIRLEAD_GEN_ROUTE_HOST_INDEX_H_
#define FAIRLEAD_GEN_ROUTE_HOST_INDEX_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "gen/patch/pool.h"
#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {

// The virtual hosts of one route configuration by the hosts of requests, for proxies that ask for them one by
// one. Immutable, thread-safe.
class HostIndex {
 public:
  // `include_attempt_count`: of all its virtual hosts. `ignore_ports`: as in the route configuration.
  HostIndex(VirtualHosts hosts, bool include_attempt_count, bool ignore_ports);
  HostIndex(const HostIndex&) = delete;
  HostIndex& operator=(const HostIndex&) = delete;

  // The answer to a request for `host`, in lower case: an encoded VirtualHost; nothing where no virtual host
  // takes it. A proxy asks only for what none of its virtual hosts matches. A virtual host with a wildcard
  // would take the requests of hosts that are not requested yet. It therefore goes out for the one host
  // alone. So does one that was found without the port, which the proxy may not know to ignore.
  std::optional<std::string> Answer(std::string_view host) const;

 private:
  using ByDomain = absl::flat_hash_map<std::string_view, const VirtualHost*>;
  void Add(const VirtualHost& host, std::string_view domain);
  const VirtualHost* Find(std::string_view host) const;

  const VirtualHosts hosts_;
  const bool include_attempt_count_, ignore_ports_;
  std::deque<std::string> lowered_;  // domains that have capitals
  // Keys are domains in lower case, those of wildcards without the asterisk.
  ByDomain exact_, suffixes_, prefixes_;
  const VirtualHost* any_ = nullptr;  // "*"
};

// The index of the route configuration that BuildOutboundRouteConfiguration makes.
std::shared_ptr<const HostIndex> IndexHosts(const Inputs& inputs);
// The same after patches.
std::shared_ptr<const HostIndex> IndexHosts(const patch::Patched<Inputs>& inputs);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HOST_INDEX_H_
