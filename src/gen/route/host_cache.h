#ifndef FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_
#define FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {

// The virtual hosts of a port, which the route configurations of its sniffed listeners are cut out of: a
// thousand services that share one port would make a million virtual hosts without it. They are asked for one
// after the other, so only the last few ports' are kept, as they are large. Thread-safe.
class HostCache {
 public:
  // Never null; empty for null inputs.
  std::shared_ptr<const VirtualHosts> Get(const HostInputsPtr& inputs);
  void Sweep();

 private:
  struct Entry {
    HostInputs inputs;
    std::shared_ptr<const VirtualHosts> hosts;
  };
  std::shared_ptr<const VirtualHosts> Find(const HostInputs& inputs);

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last one asked for is the first
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_HOST_CACHE_H_
