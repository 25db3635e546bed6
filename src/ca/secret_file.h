#ifndef FAIRLEAD_CA_SECRET_FILE_H_
#define FAIRLEAD_CA_SECRET_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Files that hold keys. Messages name paths, never content.
namespace fairlead::ca {

// Unavailable where it cannot be read, InvalidArgument beyond 1 MiB.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);
// With those above it; the folder itself for its owner alone (0700).
absl::Status MakePrivateFolder(const std::string& path);
// FailedPrecondition where others than the owner may read or change it.
absl::Status CheckPrivate(const std::string& path);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_SECRET_FILE_H_
