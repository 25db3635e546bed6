#include "app/start_check.h"

#include <utility>

#include "base/strings.h"
#include "config/no_effect.h"

namespace fairlead::app {
namespace {

class StartCheck : public source::Sink {
 public:
  StartCheck(StartRules rules, source::Sink* next, std::function<void(absl::Status)> refuse)
      : rules_(rules), next_(next), refuse_(std::move(refuse)) {}

  void OnChanges(std::vector<config::ObjectChange> changes) override { next_->OnChanges(std::move(changes)); }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    next_->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    if (!started_) verdict_ = CheckStart(rules_, diagnostics);
    next_->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override {
    started_ = true;
    if (verdict_.ok()) return next_->OnSynced();
    refuse_(verdict_);
  }

 private:
  const StartRules rules_;
  source::Sink* const next_;
  const std::function<void(absl::Status)> refuse_;
  absl::Status verdict_;
  bool started_ = false;
};

}  // namespace

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

std::unique_ptr<source::Sink> MakeStartCheck(StartRules rules, source::Sink* next,
                                             std::function<void(absl::Status)> refuse) {
  return std::make_unique<StartCheck>(rules, next, std::move(refuse));
}

}  // namespace fairlead::app
