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

// FailedPrecondition with all errors among the diagnostics, a line each; OK where there are none.
absl::Status RefuseInvalid(const std::vector<config::Diagnostic>& diagnostics);

// A sink in front of another one (--onInvalid=refuse): where what the source has at the start has errors, the
// source never counts as synced, and `refuse` is called once, on the source's thread. What comes later is
// handed on. `next` must outlive it.
std::unique_ptr<source::Sink> MakeStartCheck(source::Sink* next, std::function<void(absl::Status)> refuse);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_START_CHECK_H_
