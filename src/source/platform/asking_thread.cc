#include "source/platform/asking_thread.h"

#include <pthread.h>

#include <utility>

#include "base/thread.h"

namespace fairlead::source {

void AskingThread::Start(const char* name, TaskLoop* loop, std::function<void()> run) {
  loop_ = loop;
  thread_ = RequireThread([name, run = std::move(run)] {
    pthread_setname_np(pthread_self(), name);
    run();
  });
}

void AskingThread::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool AskingThread::HandOver(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (stopping_) return false;
  const uint64_t number = ++handed_;
  loop_->Post([this, task = std::move(task)] {
    task();
    {
      std::lock_guard done_lock(mutex_);
      ++done_;
    }
    changed_.notify_all();
  });
  changed_.wait(lock, [&] { return stopping_ || done_ >= number; });
  return !stopping_;
}

bool AskingThread::Pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace fairlead::source
