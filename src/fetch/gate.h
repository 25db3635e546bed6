#ifndef FAIRLEAD_FETCH_GATE_H_
#define FAIRLEAD_FETCH_GATE_H_

#include <condition_variable>
#include <mutex>
#include <thread>

namespace fairlead::fetch {

// The way of calls from the client's thread to observers: one call at a time, and whoever closes it for an
// exchange waits for the end of a call that runs. Thread-safe.
class Gate {
 public:
  // Of an exchange; the gate's alone.
  class Pass {
    friend class Gate;
    bool closed_ = false, paused_ = false;
  };

  // The thread that calls observers.
  void SetThread(std::thread::id thread) {
    const std::lock_guard lock(mutex_);
    thread_ = thread;
  }
  // On that thread. False, where the exchange was closed before (then nothing is called) or meanwhile.
  template <class Call>
  bool Run(const Pass& pass, Call&& call) {
    {
      const std::lock_guard lock(mutex_);
      if (pass.closed_) return false;
      inside_ = &pass;
    }
    call();
    const std::lock_guard lock(mutex_);
    inside_ = nullptr;
    left_.notify_all();
    return !pass.closed_;
  }
  // After the return nothing is called for the exchange, but for a call that is this one's caller.
  void Close(Pass& pass) {
    std::unique_lock lock(mutex_);
    pass.closed_ = true;
    if (std::this_thread::get_id() == thread_) return;
    left_.wait(lock, [&] { return inside_ != &pass; });
  }
  void SetPaused(Pass& pass, bool paused) {
    const std::lock_guard lock(mutex_);
    pass.paused_ = paused;
  }
  bool IsPaused(const Pass& pass) const {
    const std::lock_guard lock(mutex_);
    return pass.paused_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::thread::id thread_;
  const Pass* inside_ = nullptr;
};

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_GATE_H_
