#include "gen/resource/warn_once.h"

#include <algorithm>
#include <chrono>

namespace fairlead::gen {
namespace {

constexpr auto kMemory = std::chrono::hours(1);
constexpr double kPerSecond = 1;

}  // namespace

bool WrittenLines::IsNews(const std::string& line, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  const auto forget_last = [this] {
    known_.erase(lines_.back().line);
    lines_.pop_back();
  };
  while (!lines_.empty() && now - lines_.back().found > kMemory) forget_last();
  if (const auto known = known_.find(line); known != known_.end()) {
    known->second->found = now;
    lines_.splice(lines_.begin(), lines_, known->second);
    return false;
  }
  const double seconds = std::chrono::duration<double>(now - counted_).count();
  left_ = std::min(static_cast<double>(most_), left_ + std::max(0.0, seconds) * kPerSecond);
  counted_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  if (lines_.size() >= most_) forget_last();
  lines_.push_front({line, now});
  known_.emplace(lines_.front().line, lines_.begin());
  return true;
}

void WarnOnce(LogScope& scope, const std::string& line) {
  static auto* const written = new WrittenLines;
  if (written->IsNews(line, Clock::now())) scope.Warn("{}", line);
}

}  // namespace fairlead::gen
