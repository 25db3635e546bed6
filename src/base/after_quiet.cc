#include "base/after_quiet.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace fairlead {

AfterQuiet::~AfterQuiet() { Stop(); }

void AfterQuiet::Start(Options options) {
  options_ = std::move(options);
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), options_.name.c_str());
    Run();
  });
}

void AfterQuiet::Touch() {
  {
    std::lock_guard lock(mutex_);
    changed_ = true;
    ++changes_;
  }
  wake_.notify_one();
}

void AfterQuiet::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AfterQuiet::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || changed_; });
    const Clock::time_point latest = Clock::now() + options_.at_most;
    for (uint64_t seen = changes_ + 1; !stopping_ && seen != changes_ && Clock::now() < latest;) {
      seen = changes_;
      wake_.wait_until(lock, std::min(Clock::now() + options_.quiet, latest), [this] { return stopping_; });
    }
    if (stopping_) return;
    changed_ = false;
    lock.unlock();
    options_.job();
    lock.lock();
  }
}

}  // namespace fairlead
