#ifndef FAIRLEAD_CONFIG_DIAGNOSTIC_H_
#define FAIRLEAD_CONFIG_DIAGNOSTIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/object.h"

namespace fairlead::config {

enum class Severity { kWarning, kError };

// One thing wrong with what a user wrote. Data, not an exception: the object or field is dropped, the rest
// goes on.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;  // stable and short: "unknown-field", "wrong-type", "duplicate-object", …
  std::string file;  // "" for an API server's objects
  int line = 0;      // 1-based, of the field where known, else of the object; 0: unknown
  std::optional<ObjectKey> object;
  std::string
      path;  // field path in manifest spelling: "spec.http[2].route[0].weight"; "" for the whole object
  std::string message;
  // How far it reaches now: whom it concerns, since when. Part of no text that tells one diagnostic from
  // another, so that it may change as long as the thing itself is wrong.
  std::string details = {};
};

// "mesh/routes.yaml:14: error: VirtualService default/reviews: spec.http[2].weigth: unknown field
// (unknown-field)"
std::string ToText(const Diagnostic& diagnostic);

// "2026-01-02T03:04:05Z", of Unix seconds.
std::string UtcText(int64_t time);

// That an earlier version counts in place of what the file says now: the one that was written at `time`, in
// Unix seconds (0: not known).
Diagnostic ServingEarlier(std::string file, int64_t time);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_DIAGNOSTIC_H_
