#ifndef FAIRLEAD_SOURCE_PLATFORM_ASKING_THREAD_H_
#define FAIRLEAD_SOURCE_PLATFORM_ASKING_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "source/platform/task_loop.h"

namespace fairlead::source {

// A thread of a follower whose client blocks. It hands each thing that it hears to the source's thread.
class AskingThread {
 public:
  AskingThread() = default;
  ~AskingThread() { Stop(); }
  AskingThread(const AskingThread&) = delete;
  AskingThread& operator=(const AskingThread&) = delete;

  // `name`: of the thread, at most 15 characters. `loop`, of the source's thread, outlives it.
  void Start(const char* name, TaskLoop* loop, std::function<void()> run);
  // Ends what waits, and waits until `run` has returned. The client must be stopped before.
  void Stop();

  // Of the thread itself. Waits until the source's thread has run the task: what is read ahead is one piece.
  // False: stopped.
  bool HandOver(std::function<void()> task);
  // The same for a time; false: stopped.
  bool Pause(std::chrono::milliseconds time);

 private:
  TaskLoop* loop_ = nullptr;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;           // guarded by mutex_
  uint64_t handed_ = 0, done_ = 0;  // tasks; likewise
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_ASKING_THREAD_H_
