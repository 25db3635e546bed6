#include "base/log_rate.h"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

constexpr size_t kMostPeers = 1000;
constexpr std::string_view kOthers = "";
constexpr std::chrono::seconds kSweepEvery{1};

}  // namespace

void LogRate::Refill(State* state, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - state->since).count();
  state->tokens = std::min(burst_, state->tokens + std::max(0.0, seconds) * per_second_);
  state->since = now;
}

LogRate::State& LogRate::StateOf(std::string_view peer, Clock::time_point now) {
  if (const auto known = peers_.find(peer); known != peers_.end()) return known->second;
  if (peers_.size() >= kMostPeers && now - swept_ >= kSweepEvery) {
    swept_ = now;
    absl::erase_if(peers_, [&](auto& entry) {
      Refill(&entry.second, now);
      return entry.second.tokens >= burst_;
    });
  }
  const std::string_view key = peers_.size() < kMostPeers ? peer : kOthers;
  return peers_.try_emplace(std::string(key), State{burst_, now}).first->second;
}

std::optional<std::string> LogRate::Admit(std::string_view peer, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  State& state = StateOf(peer, now);
  Refill(&state, now);
  if (state.tokens < 1) {
    ++state.left_out;
    return std::nullopt;
  }
  state.tokens -= 1;
  const size_t left_out = std::exchange(state.left_out, 0);
  return left_out == 0 ? std::string() : StrCat(" (", left_out, " more of this peer were left out)");
}

std::string_view HostOfPeer(std::string_view address) {
  const size_t scheme = address.find(':');
  if (address.starts_with("ipv4:") || address.starts_with("ipv6:")) address.remove_prefix(scheme + 1);
  const size_t colon = address.rfind(':');
  const bool several = colon != std::string_view::npos && address.find(':') != colon;
  if (colon == std::string_view::npos || (several && !address.starts_with('['))) return address;
  if (several && address.back() == ']') return address;
  return address.substr(0, colon);
}

}  // namespace fairlead
