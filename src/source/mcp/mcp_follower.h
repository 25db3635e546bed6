#ifndef FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_
#define FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_

#include <optional>
#include <string>
#include <vector>

#include "source/mcp/mcp_options.h"
#include "source/mcp/mcp_session.h"
#include "source/platform/asking_thread.h"
#include "source/platform/grpc_link.h"
#include "source/platform/platform_source.h"
#include "source/platform/retry_pause.h"

namespace fairlead::source {

// Follows the objects that an xDS server has: istiod, another Fairlead, or any server of MCP. A thread of its
// own holds the stream.
class McpFollower : public PlatformFollower {
 public:
  explicit McpFollower(McpOptions options);
  ~McpFollower() override { End(); }

  void Begin(TaskLoop* loop, PlatformView* view) override;
  void End() override;
  std::vector<std::string> Awaited() const override;

 private:
  // Of the thread that asks.
  void Run();
  absl::Status Stream();
  absl::StatusOr<GrpcLink::Metadata> MetadataOfCall() const;
  absl::Status Answer(GrpcLink::Call& call, const std::vector<std::string>& messages);

  const McpOptions options_;
  GrpcLink link_;
  RetryPause pause_;
  AskingThread thread_;
  // Of the source's thread.
  PlatformView* view_ = nullptr;
  std::optional<McpSession> session_;
  std::string trouble_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_
