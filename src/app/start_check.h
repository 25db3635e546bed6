#ifndef FAIRLEAD_APP_START_CHECK_H_
#define FAIRLEAD_APP_START_CHECK_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "app/discovery_options.h"
#include "config/diagnostic.h"
#include "source/source.h"

namespace fairlead::app {

// What a start is refused for, or waits for.
struct StartRules {
  bool invalid = false;      // --onInvalid=refuse: errors
  bool unsupported = false;  // --onUnsupported=refuse: what is accepted and not acted on
  bool policies = false;     // --onInvalidPolicy=wait: until policies that cannot be read are mended
};
StartRules RulesOf(const DiscoveryOptions& options);

// NotFound where a file of the mesh's settings that a flag names is not there.
absl::Status CheckGivenFiles(const DiscoveryOptions& options);

// FailedPrecondition with all that are refused among the diagnostics, a line each; OK where there are none.
absl::Status CheckStart(const StartRules& rules, const std::vector<config::Diagnostic>& diagnostics);

// A sink in front of another one: where what the source has at the start is refused by the rules, the source
// never counts as synced, and `refuse` is called once, on the source's thread; where it is to be waited for,
// the source counts as synced once it is mended. What comes later is handed on. `next` must outlive it.
class StartCheck : public source::Sink {
 public:
  StartCheck(StartRules rules, source::Sink* next, std::function<void(absl::Status)> refuse)
      : rules_(rules), next_(next), refuse_(std::move(refuse)) {}

  void OnChanges(std::vector<config::ObjectChange> changes) override { next_->OnChanges(std::move(changes)); }
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override {
    next_->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override;
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override;

  // Adds what is waited for, a text each. Thread-safe.
  void AddAwaited(std::vector<std::string>* texts) const;

 private:
  const StartRules rules_;
  source::Sink* const next_;
  const std::function<void(absl::Status)> refuse_;
  absl::Status verdict_;
  bool said_all_ = false;  // what there is at the start
  bool started_ = false;   // `next_` knows that it is synced
  mutable std::mutex mutex_;
  std::vector<std::string> awaited_;  // guarded by mutex_
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_START_CHECK_H_
