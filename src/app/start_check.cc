#include "app/start_check.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"
#include "config/lost_policy.h"
#include "config/read/no_effect.h"

namespace fairlead::app {

StartRules RulesOf(const DiscoveryOptions& options) {
  return {options.on_invalid == "refuse", options.on_unsupported == "refuse",
          options.on_invalid_policy == "wait"};
}

absl::Status CheckGivenFiles(const DiscoveryOptions& options) {
  for (const std::string& flag : options.given_files) {
    const std::string& path = flag == "--meshConfig" ? options.mesh_config : options.networks_config;
    struct stat status;
    if (path.empty() || stat(path.c_str(), &status) == 0) continue;
    return absl::NotFoundError(ToAbsl(StrCat(flag, ": cannot read ", path, ": ", ErrnoText(errno))));
  }
  return absl::OkStatus();
}

absl::Status CheckStart(const StartRules& rules, const std::vector<config::Diagnostic>& diagnostics) {
  std::string text;
  size_t count = 0;
  for (const config::Diagnostic& diagnostic : diagnostics) {
    const bool invalid = diagnostic.severity == config::Severity::kError;
    const bool unsupported = diagnostic.code == config::kNoEffectCode;
    if (!(rules.invalid && invalid) && !(rules.unsupported && unsupported)) continue;
    ++count;
    StrAppend(&text, "\n  ", config::ToText(diagnostic));
  }
  if (count == 0) return absl::OkStatus();
  const std::string_view flags = !rules.unsupported ? "--onInvalid=refuse"
                                 : !rules.invalid   ? "--onUnsupported=refuse"
                                                    : "--onInvalid=refuse --onUnsupported=refuse";
  return absl::FailedPreconditionError(ToAbsl(
      StrCat(flags, ": the start is refused for ", count, count == 1 ? " reason:" : " reasons:", text)));
}

void StartCheck::OnDiagnostics(std::vector<config::Diagnostic> diagnostics) {
  std::vector<std::string> awaited;
  for (const config::Diagnostic& one : diagnostics) {
    if (rules_.policies && !started_ && one.code == config::kUnreadablePolicyCode)
      awaited.push_back(config::ToText(one));
  }
  if (!said_all_) verdict_ = CheckStart(rules_, diagnostics);
  const bool mended = awaited.empty();
  {
    std::lock_guard lock(mutex_);
    awaited_ = std::move(awaited);
  }
  next_->OnDiagnostics(std::move(diagnostics));
  if (!said_all_ || started_ || !mended || !verdict_.ok()) return;
  started_ = true;
  next_->OnSynced();
}

void StartCheck::OnSynced() {
  said_all_ = true;
  if (!verdict_.ok()) return refuse_(verdict_);
  {
    std::lock_guard lock(mutex_);
    if (!awaited_.empty()) return;
  }
  started_ = true;
  next_->OnSynced();
}

void StartCheck::AddAwaited(std::vector<std::string>* texts) const {
  std::lock_guard lock(mutex_);
  texts->insert(texts->end(), awaited_.begin(), awaited_.end());
}

}  // namespace fairlead::app
