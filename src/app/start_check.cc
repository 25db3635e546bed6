#include "app/start_check.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::app {
namespace {

class StartCheck : public source::Sink {
 public:
  StartCheck(source::Sink* next, std::function<void(absl::Status)> refuse)
      : next_(next), refuse_(std::move(refuse)) {}

  void OnChanges(std::vector<config::ObjectChange> changes) override { next_->OnChanges(std::move(changes)); }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    next_->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    if (!started_) verdict_ = RefuseInvalid(diagnostics);
    next_->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override {
    started_ = true;
    if (verdict_.ok()) return next_->OnSynced();
    refuse_(verdict_);
  }

 private:
  source::Sink* const next_;
  const std::function<void(absl::Status)> refuse_;
  absl::Status verdict_;
  bool started_ = false;
};

}  // namespace

absl::Status RefuseInvalid(const std::vector<config::Diagnostic>& diagnostics) {
  std::string text;
  size_t errors = 0;
  for (const config::Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != config::Severity::kError) continue;
    ++errors;
    StrAppend(&text, "\n  ", config::ToText(diagnostic));
  }
  if (errors == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl(StrCat("--onInvalid=refuse, and there ",
                    errors == 1 ? "is 1 mistake:" : StrCat("are ", errors, " mistakes:"), text)));
}

std::unique_ptr<source::Sink> MakeStartCheck(source::Sink* next, std::function<void(absl::Status)> refuse) {
  return std::make_unique<StartCheck>(next, std::move(refuse));
}

}  // namespace fairlead::app
