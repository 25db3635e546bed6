#include "source/copilot/copilot_follower.h"

#include <map>
#include <memory>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

constexpr char kQuestion[] = "the routes";

bool HasNoMethod(const absl::Status& status) { return status.code() == absl::StatusCode::kUnimplemented; }

}  // namespace

CopilotFollower::CopilotFollower(CopilotOptions options)
    : options_(std::move(options)),
      link_({options_.url.addresses, options_.platform, options_.connect, options_.most_message}),
      pause_(options_.first_backoff, options_.most_backoff, options_.seed) {}

void CopilotFollower::Begin(TaskLoop* loop, PlatformView* view) {
  view_ = view;
  thread_.Start("copilot", loop, [this] { Run(); });
}

void CopilotFollower::End() {
  link_.Stop();
  thread_.Stop();
}

std::vector<std::string> CopilotFollower::Awaited() const {
  if (view_ != nullptr && view_->complete()) return {};
  return {StrCat(options_.url.Name(), trouble_.empty() ? "" : ": ", trouble_)};
}

void CopilotFollower::Run() {
  for (;;) {
    const absl::Status status = Ask();
    if (absl::IsCancelled(status)) return;
    if (status.ok()) {
      pause_.Reset();
      if (!thread_.Pause(options_.interval)) return;
      continue;
    }
    link_.NextServer();
    const auto wait = pause_.Next();
    const bool handed = thread_.HandOver(
        [this, text = std::string(FromAbsl(status.message())), failures = pause_.failures()] {
          trouble_ = text;
          view_->NoteTrouble(kQuestion, text, failures);
        });
    if (!handed || !thread_.Pause(wait)) return;
  }
}

// A call without fields in its request.
absl::StatusOr<std::string> CopilotFollower::Call(const std::string& path) {
  std::string answer;
  size_t answers = 0;
  auto opened = link_.Open(path, {}, [&](std::string message) {
    answer = std::move(message);
    ++answers;
  });
  if (!opened.ok()) return opened.status();
  GrpcLink::Call& stream = **opened;
  stream.call->Send("");
  stream.call->Finish();
  const Clock::time_point until = Clock::now() + options_.call;
  while (!stream.call->ended()) {
    if (absl::Status status = link_.Turn(stream, until); !status.ok()) return status;
  }
  if (!stream.call->status().ok()) return stream.call->status();
  if (answers != 1) return absl::UnavailableError("Copilot gave no answer");
  return answer;
}

// Versions before internal routes lack the second method; those since October 2018 lack both.
absl::Status CopilotFollower::Ask() {
  const auto answer = Call(kCopilotRoutes);
  if (HasNoMethod(answer.status()))
    return absl::UnavailableError(
        "this Copilot has no api.IstioCopilot: it serves its routes over MCP alone");
  if (!answer.ok()) return answer.status();
  auto routes = DecodeCopilotRoutes(*answer);
  if (!routes.ok()) return routes.status();
  std::vector<CopilotRoute> internal_routes;
  const auto internal = Call(kCopilotInternalRoutes);
  if (!internal.ok() && !HasNoMethod(internal.status())) return internal.status();
  if (internal.ok()) {
    auto decoded = DecodeCopilotInternalRoutes(*internal);
    if (!decoded.ok()) return decoded.status();
    internal_routes = *std::move(decoded);
  }
  auto parts = MakeCopilotParts(options_, *std::move(routes), std::move(internal_routes));
  const bool handed = thread_.HandOver([this, &parts] { Take(std::move(parts)); });
  return handed ? absl::OkStatus() : absl::CancelledError("stopped");
}

void CopilotFollower::Take(std::map<std::string, PlatformPart> parts) {
  trouble_.clear();
  view_->RetainOnly([&parts](const std::string& name) { return parts.contains(name); });
  for (auto& [name, part] : parts) view_->Put(name, std::move(part));
  view_->ForgetTrouble(kQuestion);
  view_->NoteAnswer();
  view_->SetComplete();
}

}  // namespace fairlead::source
