#include "base/label_values.h"

#include "base/utf8.h"

namespace fairlead::metrics {

std::string LabelValues::Of(std::string_view value) {
  std::string clean = CleanUtf8(value, longest_);
  std::lock_guard lock(mutex_);
  if (seen_.contains(clean)) return clean;
  if (seen_.size() >= most_) return std::string(kOtherValues);
  seen_.insert(clean);
  return clean;
}

}  // namespace fairlead::metrics
