#ifndef FAIRLEAD_GEN_ROUTE_NAMED_ROUTES_H_
#define FAIRLEAD_GEN_ROUTE_NAMED_ROUTES_H_

#include <string>
#include <utility>

#include "cache/byte_cache.h"
#include "gen/generator.h"
#include "gen/route/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace fairlead::gen::route {

// Route configurations requested by name, one by one. All proxies of a class and a scope share them, whatever
// else they request. Thread-safe.
class NamedRoutes {
 public:
  // The answer for a name, made by `make` (View& -> ResourcePtr) where none holds.
  template <typename Make>
  cache::ResourcePtr Get(mesh::View& view, const std::string& name, Make&& make) {
    return view.Use(answers_, ScopeKey::Of(view, name), std::forward<Make>(make), SameResource);
  }
  void Sweep(Clock::time_point now) { answers_.Sweep(now); }

 private:
  cache::RecordedCache<ScopeKey, cache::Resource, mesh::Reads> answers_;
};

// The virtual hosts of a port. Route configurations of its sniffed listeners are cut out of them. Otherwise a
// thousand services on one port would make a million virtual hosts. Thread-safe.
class HostCache {
 public:
  // Never null; empty for null inputs.
  std::shared_ptr<const VirtualHosts> Get(const HostInputsPtr& inputs) {
    static const auto* const none = new std::shared_ptr<const VirtualHosts>(std::make_shared<VirtualHosts>());
    if (inputs == nullptr) return *none;
    return hosts_.GetOrBuild(*inputs, [](const HostInputs& in) {
      return std::make_shared<const VirtualHosts>(BuildVirtualHosts(in));
    });
  }
  // They are large, and asked for one soon after the other.
  void Sweep(Clock::time_point now) { hosts_.Sweep(now, std::chrono::seconds(2)); }

 private:
  cache::ByteCache<HostInputs, VirtualHosts> hosts_;
};

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_NAMED_ROUTES_H_
