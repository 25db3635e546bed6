#ifndef FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_
#define FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_

#include <optional>
#include <string>
#include <vector>

#include "source/mcp/mcp_options.h"
#include "source/mcp/mcp_session.h"
#include "source/platform/asking_follower.h"
#include "source/platform/grpc_link.h"

namespace fairlead::source {

// Follows the objects that an xDS server has: istiod, another Fairlead, or any server of MCP. A thread of its
// own holds the stream.
class McpFollower : public AskingFollower {
 public:
  explicit McpFollower(McpOptions options);
  ~McpFollower() override { End(); }

  void Begin(TaskLoop* loop, PlatformView* view) override;

 private:
  absl::Status Follow() override;
  void StopClient() override { link_.Stop(); }
  // Of the thread that asks.
  absl::Status Stream();
  absl::StatusOr<GrpcLink::Metadata> MetadataOfCall() const;
  absl::Status Answer(GrpcLink::Call& call, const std::vector<std::string>& messages);

  const McpOptions options_;
  GrpcLink link_;
  std::optional<McpSession> session_;  // of the source's thread
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_MCP_MCP_FOLLOWER_H_
