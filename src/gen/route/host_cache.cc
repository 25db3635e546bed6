#include "gen/route/host_cache.h"

namespace fairlead::gen::route {

std::shared_ptr<const VirtualHosts> HostCache::Get(const HostInputsPtr& inputs) {
  static const auto* const kNone = new std::shared_ptr<const VirtualHosts>(std::make_shared<VirtualHosts>());
  if (inputs == nullptr) return *kNone;
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(*inputs);
    if (found != entries_.end()) return found->second;
  }
  auto built = std::make_shared<const VirtualHosts>(BuildVirtualHosts(*inputs));
  std::lock_guard lock(mutex_);
  return entries_.try_emplace(*inputs, std::move(built)).first->second;
}

void HostCache::Sweep() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace fairlead::gen::route
