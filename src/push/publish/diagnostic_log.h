#ifndef FAIRLEAD_PUSH_PUBLISH_DIAGNOSTIC_LOG_H_
#define FAIRLEAD_PUSH_PUBLISH_DIAGNOSTIC_LOG_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "config/diagnostic_list.h"

namespace fairlead::push {

using config::DiagnosticList;

// What is wrong with the mesh now: logged when it comes up and when it is gone, counted by severity in
// fairlead_diagnostics, and kept for those who ask. Told by account (a source, a step of the mesh): a list
// that is the one from before costs nothing, another one what differs. Set and Tell are for one thread,
// Current for all.
class DiagnosticLog {
 public:
  DiagnosticLog();
  // All that an account says from now on, in any order; in place of its list before. Never null.
  void Set(const std::string& account, DiagnosticList now);
  // Logs what the calls of Set since the last Tell have changed together, and counts it.
  void Tell();
  // As told last, each thing once, by its text. Never null.
  DiagnosticList Current() const;

 private:
  struct Known {
    config::Diagnostic diagnostic;
    size_t times = 0;  // that accounts say it
    bool logged = false;
  };
  void Add(const config::Diagnostic& diagnostic);
  void Remove(const config::Diagnostic& diagnostic);

  std::map<std::string, DiagnosticList> accounts_;
  mutable std::mutex mutex_;                  // guards what follows
  std::map<std::string, Known> known_;        // by text
  std::set<std::string> touched_;             // texts, since the last Tell
  size_t errors_ = 0, warnings_ = 0;          // as told
  mutable DiagnosticList current_ = nullptr;  // null: to be made of known_
};

// How many of them have the severity.
size_t CountOf(const std::vector<config::Diagnostic>& diagnostics, config::Severity severity);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_PUBLISH_DIAGNOSTIC_LOG_H_
