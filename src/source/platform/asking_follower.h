#ifndef FAIRLEAD_SOURCE_PLATFORM_ASKING_FOLLOWER_H_
#define FAIRLEAD_SOURCE_PLATFORM_ASKING_FOLLOWER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "source/platform/asking_thread.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Follows a platform with one client that blocks, on a thread of its own: asks again and again, later each
// time after a failure.
class AskingFollower : public PlatformFollower {
 public:
  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 protected:
  struct Asked {
    std::string name;      // of the source, for people
    const char* thread;    // its name
    const char* question;  // for people: "the keys"
  };
  AskingFollower(Asked asked, RetryPause pause);

  // On the thread that asks. Until it fails, or is to be called again at once (OK). Cancelled: stopped.
  virtual absl::Status Follow() = 0;
  // Ends what Follow waits for, with Cancelled. Any thread. Whoever implements it must call End when it goes.
  virtual void StopClient() = 0;
  // The question was answered. On the source's thread.
  void ForgetTrouble();

  RetryPause pause_;  // of the thread that asks
  AskingThread thread_;
  PlatformView* view_ = nullptr;  // of the source's thread

 private:
  void Run();

  const Asked asked_;
  std::string trouble_;  // of the source's thread
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_ASKING_FOLLOWER_H_
