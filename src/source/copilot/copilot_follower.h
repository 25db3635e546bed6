#ifndef FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_
#define FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_

#include <map>
#include <string>

#include "source/copilot/copilot_entries.h"
#include "source/copilot/copilot_options.h"
#include "source/platform/asking_follower.h"
#include "source/platform/grpc_link.h"

namespace fairlead::source {

// Asks Copilot for all routes again and again, as its API has no way to wait for a change. A thread of its
// own asks. A part of the view is a host.
class CopilotFollower : public AskingFollower {
 public:
  explicit CopilotFollower(CopilotOptions options);
  ~CopilotFollower() override { End(); }

 private:
  absl::Status Follow() override;
  void StopClient() override { link_.Stop(); }
  // Of the thread that asks.
  absl::StatusOr<std::string> Call(const std::string& path);
  absl::Status Ask();
  // Of the source's thread.
  void Take(std::map<std::string, PlatformPart> parts);

  const CopilotOptions options_;
  GrpcLink link_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_COPILOT_COPILOT_FOLLOWER_H_
