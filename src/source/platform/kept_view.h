#ifndef FAIRLEAD_SOURCE_PLATFORM_KEPT_VIEW_H_
#define FAIRLEAD_SOURCE_PLATFORM_KEPT_VIEW_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "source/platform/platform_view.h"

// The last view of a platform on disk, for a start while the platform is away (--stateDir).
namespace fairlead::source {

struct KeptView {
  int64_t time = 0;  // Unix seconds: when it was written
  std::map<std::string, PlatformPart> parts;
};

// A JSON document: format, source, time, and the manifests of each part. Parts with Secrets are left out.
std::string KeptViewText(const std::string& source, int64_t time,
                         const std::map<std::string, PlatformPartPtr>& parts);

// Back. InvalidArgument where it is damaged, of another format or of another source. Objects that cannot be
// read any more are left out.
absl::StatusOr<KeptView> ParseKeptView(const std::string& source, std::string_view text);

// Of the file; NotFound where there is none.
absl::StatusOr<KeptView> ReadKeptView(const std::string& source, const std::string& path);

// The name of the file of a source in the folder of the kept ones.
std::string KeptViewName(const std::string& source);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_KEPT_VIEW_H_
