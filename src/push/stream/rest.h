#ifndef FAIRLEAD_PUSH_STREAM_REST_H_
#define FAIRLEAD_PUSH_STREAM_REST_H_

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace fairlead::push {

// Lets one thread sleep while the others have nothing for it. Others disturb it at each piece of work, which
// costs them one read while it is awake. Takes no lock that is held elsewhere, so that anybody may disturb it
// under any lock. Thread-safe.
class Rest {
 public:
  // There is work, or was.
  void Disturb() {
    if (disturbed_.load() || disturbed_.exchange(true) || !sleeping_.load()) return;
    std::lock_guard lock(mutex_);
    wake_.notify_one();
  }
  // Whether it was disturbed since the last call.
  bool TakeDisturbance() { return disturbed_.load() && disturbed_.exchange(false); }
  // Until it is disturbed: at once where it was since TakeDisturbance. Of one thread.
  void Sleep() {
    std::unique_lock lock(mutex_);
    sleeping_ = true;
    wake_.wait(lock, [this] { return disturbed_.load(); });
    sleeping_ = false;
  }

 private:
  std::atomic<bool> disturbed_{false}, sleeping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_REST_H_
