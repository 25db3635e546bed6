#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/copilot/copilot_entries.h"
#include "source/copilot/copilot_options.h"
#include "source/platform/asking_thread.h"
#include "source/platform/grpc_link.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Asks Copilot for all routes again and again, as its API has no way to wait for a change. A thread of its
// own asks. A part of the view is a host.
class CopilotFollower : public PlatformFollower {
 public:
  explicit CopilotFollower(CopilotOptions options);
  ~CopilotFollower() override { End(); }

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  // Of the thread that asks.
  void Run();
  absl::StatusOr<std::string> Call(const std::string& path);
  absl::Status Ask();
  // Of the source's thread.
  void Take(std::map<std::string, PlatformPart> parts);

  const CopilotOptions options_;
  GrpcLink link_;
  RetryPause pause_;
  PlatformView* view_ = nullptr;
  std::string trouble_;  // of the source's thread
  AskingThread thread_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_
