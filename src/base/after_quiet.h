#ifndef FAIRLEAD_BASE_AFTER_QUIET_H_
#define FAIRLEAD_BASE_AFTER_QUIET_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"

namespace fairlead {

// Runs a job on a thread of its own, once a burst of changes is over. Example: with 100 ms of quiet and 1 s
// at most, fifty changes within 40 ms are one run 140 ms after the first. Thread-safe.
class AfterQuiet {
 public:
  struct Options {
    std::string name;         // of the thread; 15 bytes at most
    Clock::duration quiet;    // without a change, before the job runs
    Clock::duration at_most;  // after the first change, though changes go on
    std::function<void()> job;
  };
  AfterQuiet() = default;
  ~AfterQuiet();  // as Stop()

  void Start(Options options);
  // Something changed. May be called before Start: the job then runs after it.
  void Touch();
  // Waits for a job that runs. None runs afterwards.
  void Stop();

 private:
  void Run();

  Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool changed_ = false, stopping_ = false;  // guarded by mutex_
  uint64_t changes_ = 0;                     // guarded by mutex_
  std::thread thread_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_AFTER_QUIET_H_
