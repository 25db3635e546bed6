#ifndef FAIRLEAD_BASE_EXECUTOR_H_
#define FAIRLEAD_BASE_EXECUTOR_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/semaphore.h"

namespace fairlead {

// Which queue a task waits in. Urgent tasks go first, but one task in four is taken from the patient ones
// while there are any, and one in sixteen from the late ones, so that none starves. Late: of somebody who has
// had more than a fair share already, or asks for much at once.
enum class Urgency { kUrgent, kPatient, kLate };

// A fixed number of threads that run tasks in the order in which they came. Thread-safe.
// Tasks must not throw and should not block. `niceness`: of the threads, as nice(2) has it: with more than 0
// they give way to the others of this process where there is not enough CPU for all.
class Executor {
 public:
  Executor(std::string name, size_t threads, int niceness = 0);
  ~Executor();  // as Stop()
  void Submit(Urgency urgency, std::function<void()> task);
  // The processor time of its threads so far: of all tasks. Zero after Stop.
  std::chrono::nanoseconds CpuTime();
  // Runs what is running to its end, drops what waits, joins the threads. Tasks submitted later are dropped.
  void Stop();

 private:
  void Run();
  std::function<void()> Take();  // REQUIRES: mutex_ held, a task is there

  std::mutex mutex_;
  Semaphore ready_;  // a task each, and the end for each thread
  std::array<std::deque<std::function<void()>>, 3> queues_;
  unsigned taken_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_EXECUTOR_H_
