#ifndef FAIRLEAD_SOURCE_FILE_READ_FILE_H_
#define FAIRLEAD_SOURCE_FILE_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace fairlead::source {

// A file's bytes. Reads once more where the file changed meanwhile; NotFound and PermissionDenied as they
// are.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_FILE_READ_FILE_H_
