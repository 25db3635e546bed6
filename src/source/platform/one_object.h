#ifndef FAIRLEAD_SOURCE_PLATFORM_ONE_OBJECT_H_
#define FAIRLEAD_SOURCE_PLATFORM_ONE_OBJECT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "config/object.h"
#include "source/platform/platform_view.h"

namespace fairlead::source {

inline constexpr size_t kMostObjectText = 4 << 20;  // bytes

// A part that is one object: a document in YAML or JSON with the kind, namespace and name of `wanted`.
// `file`: where it is, for diagnostics. A text that cannot be read has diagnostics and the objects of
// `before`, the last part in this place (may be null). `deny_lost`: a policy without an earlier version
// denies all requests then. Pure.
PlatformPart ReadOneObject(const std::string& file, std::string_view text, const config::ObjectKey& wanted,
                           const PlatformPart* before, bool deny_lost);

// A part that is wrong as a whole: the objects of `before`, and a diagnostic.
PlatformPart KeepEarlier(const std::string& file, const config::ObjectKey& wanted, const PlatformPart* before,
                         std::string code, std::string message);

// A diagnostic of a whole document.
config::Diagnostic DocumentDiagnostic(const std::string& file, std::string code, std::string message);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_ONE_OBJECT_H_
