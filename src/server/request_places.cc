#include "server/request_places.h"

#include <utility>

namespace fairlead::server {

RequestPlaces::Place RequestPlaces::Make(std::shared_ptr<State> state) {
  State* const own = state.get();
  return {own, [state = std::move(state)](void*) { Free(state); }};
}

// The place is the next one's, if somebody waits.
void RequestPlaces::Free(const std::shared_ptr<State>& state) {
  Begin begin;
  {
    std::lock_guard lock(state->mutex);
    if (state->waiting.empty()) {
      --state->taken;
      return;
    }
    begin = std::move(state->waiting.begin()->second);
    state->waiting.erase(state->waiting.begin());
  }
  begin(Make(state));
}

RequestPlaces::Entry RequestPlaces::Enter(Begin begin) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->taken >= state_->most) {
      if (state_->waiting.size() >= (state_->most + 3) / 4) return {.refused = true};
      state_->waiting.emplace(++state_->last, std::move(begin));
      return {.waits = state_->last};
    }
    ++state_->taken;
  }
  begin(Make(state_));
  return {};
}

// What is dropped goes outside of the lock: it may hold anything.
bool RequestPlaces::Leave(uint64_t waits) {
  Begin dropped;
  std::lock_guard lock(state_->mutex);
  const auto found = state_->waiting.find(waits);
  if (found == state_->waiting.end()) return false;
  dropped = std::move(found->second);
  state_->waiting.erase(found);
  return true;
}

void RequestPlaces::Close() {
  std::map<uint64_t, Begin> dropped;
  std::lock_guard lock(state_->mutex);
  state_->most = 0;
  dropped.swap(state_->waiting);
}

}  // namespace fairlead::server
