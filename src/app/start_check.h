#ifndef FAIRLEAD_APP_START_CHECK_H_
#define FAIRLEAD_APP_START_CHECK_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "config/diagnostic.h"
#include "source/source.h"

namespace fairlead::app {

// What a start is refused for.
struct StartRules {
  bool invalid = false;      // --onInvalid=refuse: errors
  bool unsupported = false;  // --onUnsupported=refuse: what is accepted and not acted on
};

// FailedPrecondition with all that are refused among the diagnostics, a line each; OK where there are none.
absl::Status CheckStart(const StartRules& rules, const std::vector<config::Diagnostic>& diagnostics);

// A sink in front of another one: where what the source has at the start is refused by the rules, the source
// never counts as synced, and `refuse` is called once, on the source's thread. What comes later is handed on.
// `next` must outlive it.
std::unique_ptr<source::Sink> MakeStartCheck(StartRules rules, source::Sink* next,
                                             std::function<void(absl::Status)> refuse);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_START_CHECK_H_
