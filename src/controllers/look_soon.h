#ifndef FAIRLEAD_CONTROLLERS_LOOK_SOON_H_
#define FAIRLEAD_CONTROLLERS_LOOK_SOON_H_

#include <atomic>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// A look at what was published, on a writer's thread: one for all publications that come before it.
class LookSoon {
 public:
  // `quiet`: from a publication until the look. The writer must outlive this, or be stopped before it goes.
  LookSoon(kube::ApiWriter* writer, Clock::duration quiet, std::function<void()> look)
      : writer_(writer), quiet_(quiet), look_(std::move(look)) {}

  // Thread-safe.
  void Plan() {
    if (planned_.exchange(true)) return;
    writer_->Run(
        [this] {
          planned_ = false;
          look_();
        },
        Clock::now() + quiet_);
  }

 private:
  kube::ApiWriter* const writer_;
  const Clock::duration quiet_;
  const std::function<void()> look_;
  std::atomic<bool> planned_{false};
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_LOOK_SOON_H_
