#include "source/platform/task_loop.h"

#include <algorithm>
#include <chrono>

namespace fairlead::source {

void TaskLoop::Post(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    posted_.push_back(std::move(task));
  }
  wake_.notify_one();
}

TaskLoop::Timer TaskLoop::At(Time time, Task task) {
  const Timer timer = ++last_;
  timers_.emplace(std::pair(time, timer), std::move(task));
  times_.emplace(timer, time);
  return timer;
}

void TaskLoop::Drop(Timer* timer) {
  const auto it = times_.find(std::exchange(*timer, 0));
  if (it == times_.end()) return;
  timers_.erase({it->second, it->first});
  times_.erase(it);
}

void TaskLoop::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
}

std::vector<TaskLoop::Task> TaskLoop::Take() {
  // Far times are no times for a condition variable.
  Time until = Clock::now() + std::chrono::hours(1);
  if (!timers_.empty()) until = std::min(until, timers_.begin()->first.first);
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, until, [this] { return stopped_ || !posted_.empty(); });
  return std::exchange(posted_, {});
}

// What a task sets for now runs in the next turn, so that a turn ends.
void TaskLoop::RunDue() {
  const Time now = Clock::now();
  const Timer newest = last_;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > newest) {
      ++it;
      continue;
    }
    const Task task = std::move(it->second);
    times_.erase(it->first.second);
    timers_.erase(it);
    task();
    it = timers_.begin();
  }
}

bool TaskLoop::Turn() {
  for (const Task& task : Take()) task();
  RunDue();
  std::lock_guard lock(mutex_);
  return !stopped_;
}

}  // namespace fairlead::source
