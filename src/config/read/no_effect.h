#ifndef FAIRLEAD_CONFIG_READ_NO_EFFECT_H_
#define FAIRLEAD_CONFIG_READ_NO_EFFECT_H_

#include <span>
#include <string_view>

#include "config/kind.h"
#include "config/report.h"
#include "config/tree.h"

namespace fairlead::config {

// What is accepted, as Istio accepts it, and not acted on by this version. The one table from which all
// that say so take it: the log, /debug, `validate`, `simulate`, the gauge, docs/operation.md.
struct NoEffect {
  Kind kind;
  // The field, "spec.tcp[].match[].sourceSubnet"; "" for the whole kind; with "=VALUE" that value of it
  // alone.
  std::string_view path;
  std::string_view why;
};
std::span<const NoEffect> NoEffectTable();

inline constexpr std::string_view kNoEffectCode = "not-acted-on";

// Warns with kNoEffectCode of each row that the document has something for: once a row, at the first place.
void NoteNoEffect(Kind kind, Node document, Report& report);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_NO_EFFECT_H_
