#ifndef FAIRLEAD_SOURCE_PLATFORM_LABEL_QUERY_H_
#define FAIRLEAD_SOURCE_PLATFORM_LABEL_QUERY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/labels.h"

namespace fairlead::source {

// Labels to select by, as kubectl spells them: "app=web,tier!=db,canary,!old". All must hold. As there, a
// label that is absent is not equal.
class LabelQuery {
 public:
  LabelQuery() = default;  // selects everything
  // InvalidArgument names the part that cannot be read; at most 64 parts.
  static absl::StatusOr<LabelQuery> Parse(std::string_view text);
  bool Matches(const LabelMap& labels) const;

 private:
  enum class Test : unsigned char { kEqual, kNotEqual, kThere, kNotThere };
  struct Part {
    Test test;
    std::string key, value;
  };
  std::vector<Part> parts_;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_LABEL_QUERY_H_
