#ifndef FAIRLEAD_CONFIG_DIAGNOSTIC_LIST_H_
#define FAIRLEAD_CONFIG_DIAGNOSTIC_LIST_H_

#include <memory>
#include <vector>

#include "config/diagnostic.h"

namespace fairlead::config {

// What one account says, immutable and shared: the same pointer means that nothing changed.
using DiagnosticList = std::shared_ptr<const std::vector<Diagnostic>>;

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_DIAGNOSTIC_LIST_H_
