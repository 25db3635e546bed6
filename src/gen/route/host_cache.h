#ifndef FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_
#define FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {

// The virtual hosts of a port, which the route configurations of its sniffed listeners are cut out of: a
// thousand services that share one port would make a million virtual hosts without it. Kept only between two
// sweeps. Thread-safe.
class HostCache {
 public:
  // Never null; empty for null inputs.
  std::shared_ptr<const VirtualHosts> Get(const HostInputsPtr& inputs);
  void Sweep();

 private:
  std::mutex mutex_;
  absl::flat_hash_map<HostInputs, std::shared_ptr<const VirtualHosts>> entries_;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_
