#include "source/copilot/copilot_follower.h"

#include <map>
#include <memory>
#include <utility>

#include "base/strings.h"

namespace fairlead::source {
namespace {

bool HasNoMethod(const absl::Status& status) { return status.code() == absl::StatusCode::kUnimplemented; }

}  // namespace

CopilotFollower::CopilotFollower(CopilotOptions options)
    : AskingFollower({options.url.Name(), "copilot", "the routes"},
                     {options.first_backoff, options.most_backoff, options.seed}),
      options_(std::move(options)),
      link_({options_.url.addresses, options_.platform, options_.connect, options_.most_message}) {}

absl::Status CopilotFollower::Follow() {
  const absl::Status status = Ask();
  if (!status.ok()) {
    link_.NextServer();
    return status;
  }
  pause_.Reset();
  return thread_.Pause(options_.interval) ? absl::OkStatus() : absl::CancelledError("stopped");
}

// A call without fields in its request.
absl::StatusOr<std::string> CopilotFollower::Call(const std::string& path) {
  return link_.Ask(path, {}, "", Clock::now() + options_.call);
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
  view_->RetainOnly([&parts](const std::string& name) { return parts.contains(name); });
  for (auto& [name, part] : parts) view_->Put(name, std::move(part));
  ForgetTrouble();
  view_->NoteAnswer();
  view_->SetComplete();
}

}  // namespace fairlead::source
