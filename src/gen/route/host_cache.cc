#include "gen/route/host_cache.h"

#include <algorithm>
#include <utility>

namespace fairlead::gen::route {

// REQUIRES: mutex_ held.
std::shared_ptr<const VirtualHosts> HostCache::Find(const HostInputs& inputs) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.inputs == inputs; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->hosts;
}

std::shared_ptr<const VirtualHosts> HostCache::Get(const HostInputsPtr& inputs) {
  constexpr size_t kKept = 8;
  static const auto* const kNone = new std::shared_ptr<const VirtualHosts>(std::make_shared<VirtualHosts>());
  if (inputs == nullptr) return *kNone;
  {
    std::lock_guard lock(mutex_);
    if (auto known = Find(*inputs)) return known;
  }
  auto built = std::make_shared<const VirtualHosts>(BuildVirtualHosts(*inputs));
  std::lock_guard lock(mutex_);
  if (auto known = Find(*inputs)) return known;
  entries_.push_front({*inputs, built});
  if (entries_.size() > kKept) entries_.pop_back();
  return built;
}

void HostCache::Sweep() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace fairlead::gen::route
