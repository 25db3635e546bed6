#ifndef FAIRLEAD_PUSH_DIAGNOSTIC_LOG_H_
#define FAIRLEAD_PUSH_DIAGNOSTIC_LOG_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "config/diagnostic.h"

namespace fairlead::push {

using DiagnosticList = std::shared_ptr<const std::vector<config::Diagnostic>>;

// What is wrong with the mesh now: logged when it comes up and when it is gone, counted by severity in
// fairlead_diagnostics, and kept for those who ask. Update is for one thread, Current for all.
class DiagnosticLog {
 public:
  // Everything that is wrong now, in any order, one thing perhaps more than once.
  void Update(std::vector<config::Diagnostic> now);
  // As last told, each thing once, by its text. Never null.
  DiagnosticList Current() const;

 private:
  std::set<std::string> logged_;  // the texts as last logged
  mutable std::mutex mutex_;
  DiagnosticList current_ = std::make_shared<std::vector<config::Diagnostic>>();  // guarded by mutex_
};

// How many of them have the severity.
size_t CountOf(const std::vector<config::Diagnostic>& diagnostics, config::Severity severity);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_DIAGNOSTIC_LOG_H_
