#include "app/last_good_state.h"

#include <string>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "source/file/state_folders.h"

namespace fairlead::app {
namespace {

LogScope app_log("server");

}  // namespace

absl::StatusOr<std::unique_ptr<source::LastGood>> OpenState(const DiscoveryOptions& options) {
  if (options.state_dir.empty()) return nullptr;
  const std::string folder = AbsolutePath(options.config_dir);
  const std::string own = source::StateFolderOf(folder);
  auto kept = source::LastGood::Open(StrCat(options.state_dir, "/", own));
  if (kept.ok()) {
    source::NoteFolder(StrCat(options.state_dir, "/", own), folder);
    source::RemoveAbandonedStates(options.state_dir, own, source::kAbandonedAfter);
    return *std::move(kept);
  }
  if (options.state_dir != options.environment.default_state_dir)
    return absl::UnavailableError(ToAbsl(StrCat("--stateDir: ", FromAbsl(kept.status().message()))));
  app_log.Warn("--stateDir: {}; last good versions end with the process", FromAbsl(kept.status().message()));
  return nullptr;
}

}  // namespace fairlead::app
