#include "push/stream/traffic.h"

namespace fairlead::push {

Traffic::Start Traffic::Begin() { return {taken_.load(), under_way_.fetch_add(1) + 1}; }

void Traffic::End(size_t size, bool taken, Clock::time_point now) {
  --under_way_;
  if (!taken) return;
  taken_ += size;
  last_taken_ = now.time_since_epoch().count();
}

bool Traffic::AtFault(const Start& start, size_t size, Clock::time_point now,
                      Clock::duration patience) const {
  const uint64_t share = (taken_.load() - start.taken) / static_cast<uint64_t>(start.sharers);
  return share >= size || now.time_since_epoch() - Clock::duration(last_taken_.load()) >= patience;
}

}  // namespace fairlead::push
