#ifndef FAIRLEAD_SOURCE_PLATFORM_TASK_LOOP_H_
#define FAIRLEAD_SOURCE_PLATFORM_TASK_LOOP_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace fairlead::source {

// Runs tasks one after the other on the thread that calls Turn: tasks of other threads, and tasks that are
// due.
class TaskLoop {
 public:
  using Time = Clock::time_point;
  using Task = std::function<void()>;
  // A task with a time; never 0, never used again.
  using Timer = uint64_t;

  // Thread-safe. After Stop the task is dropped.
  void Post(Task task);
  // Of the loop's thread: runs the task once, at this time or soon after it.
  Timer At(Time time, Task task);
  // Of the loop's thread. Nothing where the task has run; sets the number to 0.
  void Drop(Timer* timer);

  // Waits until there is a task, runs all that are there and due, and returns; false once it is stopped.
  bool Turn();
  // Thread-safe.
  void Stop();

 private:
  std::vector<Task> Take();
  void RunDue();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Task> posted_;  // guarded by mutex_
  bool stopped_ = false;      // likewise
  // Of the loop's thread.
  std::map<std::pair<Time, Timer>, Task> timers_;
  std::map<Timer, Time> times_;
  Timer last_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_TASK_LOOP_H_
