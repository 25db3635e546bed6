#ifndef FAIRLEAD_GEN_PATCH_OUTCOME_H_
#define FAIRLEAD_GEN_PATCH_OUTCOME_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gen/patch/patch.h"

namespace fairlead::gen::patch {

// The outcome of patches on one message, or on the messages of one generation.
class PatchOutcome {
 public:
  // Whether an earlier patch of the same object could not be applied.
  bool Skips(const Patch& patch) const;
  // The patch was looked at; `applied`: it changed something, or would have.
  void Note(const Patch& patch, bool applied) { seen_[{patch.object, patch.apply_to}] |= applied; }
  void Fail(const Patch& patch, std::string reason);

  // The objects one of whose patches failed.
  const std::vector<config::ConfigPtr>& failed() const { return failed_; }
  void AddFailed(const std::vector<config::ConfigPtr>& failed);
  // Tells the metric pilot_envoy_filter_status, and the log of what failed (once for an object and a reason).
  // An earlier failure of a changed object is no error any more.
  void Report() const;

 private:
  struct Failure {
    config::ConfigPtr object;
    ApplyTo apply_to;
    std::string reason;
  };
  std::map<std::pair<config::ConfigPtr, ApplyTo>, bool> seen_;
  std::vector<config::ConfigPtr> failed_;
  std::vector<Failure> failures_;
};

// Takes back the errors in pilot_envoy_filter_status of objects that nobody has any more. To be called every
// now and then. Thread-safe.
void ForgetGoneFailures();

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_OUTCOME_H_
