#include "source/platform/asking_follower.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {

AskingFollower::AskingFollower(Asked asked, RetryPause pause)
    : pause_(std::move(pause)), asked_(std::move(asked)) {}

void AskingFollower::Begin(TaskLoop* loop, PlatformView* view) {
  view_ = view;
  thread_.Start(asked_.thread, loop, [this] { Run(); });
}

void AskingFollower::End() {
  StopClient();
  thread_.Stop();
}

std::vector<std::string> AskingFollower::Awaited() const {
  if (view_ != nullptr && view_->complete()) return {};
  return {StrCat(asked_.name, trouble_.empty() ? "" : ": ", trouble_)};
}

void AskingFollower::ForgetTrouble() {
  trouble_.clear();
  view_->ForgetTrouble(asked_.question);
}

void AskingFollower::Run() {
  for (;;) {
    const absl::Status status = Follow();
    if (absl::IsCancelled(status)) return;
    if (status.ok()) continue;
    const auto wait = pause_.Next();
    const bool handed = thread_.HandOver(
        [this, text = std::string(FromAbsl(status.message())), failures = pause_.failures()] {
          trouble_ = text;
          view_->NoteTrouble(asked_.question, text, failures);
        });
    if (!handed || !thread_.Pause(wait)) return;
  }
}

}  // namespace fairlead::source
