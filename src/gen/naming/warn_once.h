#ifndef FAIRLEAD_GEN_NAMING_WARN_ONCE_H_
#define FAIRLEAD_GEN_NAMING_WARN_ONCE_H_

#include <string>

#include "base/log.h"

namespace fairlead::gen {

// Writes a warning to the log of a scope, unless it was written before: what is wrong with an
// object is found by every generator, and again whenever it is read. At most 2000 different ones are written.
// Thread-safe.
void WarnOnce(LogScope& scope, const std::string& line);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_WARN_ONCE_H_
