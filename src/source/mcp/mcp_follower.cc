#include "source/mcp/mcp_follower.h"

#include <utility>

#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

constexpr std::string_view kService = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";
constexpr std::chrono::hours kQuiet{1};  // a stream may be silent; TCP finds a server that is gone

}  // namespace

McpFollower::McpFollower(McpOptions options)
    : AskingFollower({options.url.Name(), "mcp", "the stream"},
                     {options.first_backoff, options.most_backoff, options.seed}),
      options_(std::move(options)),
      link_({options_.url.addresses, options_.platform, options_.connect, options_.most_message}) {}

void McpFollower::Begin(TaskLoop* loop, PlatformView* view) {
  session_.emplace(options_, view);
  AskingFollower::Begin(loop, view);
}

absl::Status McpFollower::Follow() {
  const absl::Status status = Stream();
  link_.NextServer();
  return status;
}

absl::StatusOr<GrpcLink::Metadata> McpFollower::MetadataOfCall() const {
  GrpcLink::Metadata metadata;
  if (options_.platform.token_file.empty()) return metadata;
  const absl::StatusOr<std::string> token = kube::ReadSmallFile(options_.platform.token_file);
  if (!token.ok()) return token.status();
  metadata.emplace_back("authorization", StrCat("Bearer ", Trim(*token)));
  return metadata;
}

// Until the stream ends; never OK.
absl::Status McpFollower::Stream() {
  absl::StatusOr<GrpcLink::Metadata> metadata = MetadataOfCall();
  if (!metadata.ok()) return metadata.status();
  std::vector<std::string> heard;
  auto opened = link_.Open(StrCat(kService, options_.delta ? "Delta" : "Stream", "AggregatedResources"),
                           *std::move(metadata),
                           [&heard](std::string message) { heard.push_back(std::move(message)); });
  if (!opened.ok()) return opened.status();
  GrpcLink::Call& call = **opened;
  std::vector<std::string> requests;
  if (!thread_.HandOver([&] { requests = session_->Begin(); })) return absl::CancelledError("stopped");
  for (const std::string& request : requests) call.call->Send(request);
  bool waiting = false;  // for types that were not answered
  while (!call.call->ended()) {
    const auto quiet = waiting ? std::chrono::duration_cast<Clock::duration>(options_.patience)
                               : std::chrono::duration_cast<Clock::duration>(kQuiet);
    const absl::Status turned = link_.Turn(call, Clock::now() + quiet);
    const std::vector<std::string> messages = std::exchange(heard, {});
    if (!messages.empty()) {
      if (absl::Status status = Answer(call, messages); !status.ok()) return status;
      waiting = true;
      pause_.Reset();
    } else if (absl::IsDeadlineExceeded(turned)) {
      if (waiting && !thread_.HandOver([this] { session_->StopWaiting(); }))
        return absl::CancelledError("stopped");
      waiting = false;
    }
    if (!turned.ok() && !absl::IsDeadlineExceeded(turned)) return turned;
  }
  return call.call->status().ok() ? absl::UnavailableError("the server ended the stream")
                                  : call.call->status();
}

absl::Status McpFollower::Answer(GrpcLink::Call& call, const std::vector<std::string>& messages) {
  for (const std::string& message : messages) {
    absl::StatusOr<std::string> answer = absl::CancelledError("stopped");
    thread_.HandOver([&] {
      answer = session_->Take(message);
      if (answer.ok()) ForgetTrouble();
    });
    if (!answer.ok()) return answer.status();
    call.call->Send(*answer);
    call.call->Done(message.size());
  }
  return absl::OkStatus();
}

}  // namespace fairlead::source
