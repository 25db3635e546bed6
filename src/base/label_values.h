#ifndef FAIRLEAD_BASE_LABEL_VALUES_H_
#define FAIRLEAD_BASE_LABEL_VALUES_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace fairlead::metrics {

inline constexpr std::string_view kOtherValues = "other";

// The values of a label that clients choose, bounded in number and length: each value costs a series of the
// metric for as long as the process lives. Thread-safe.
class LabelValues {
 public:
  LabelValues(size_t most, size_t longest) : most_(most), longest_(longest) {}
  // The value as the label may have it: valid UTF-8 of at most `longest` bytes, and "other" after `most`
  // different ones. INVARIANT: equal values are the same at every call.
  std::string Of(std::string_view value);

 private:
  const size_t most_, longest_;
  std::mutex mutex_;
  StringSet seen_;  // guarded by mutex_
};

}  // namespace fairlead::metrics

#endif  // FAIRLEAD_BASE_LABEL_VALUES_H_
