#ifndef FAIRLEAD_BASE_LABELS_H_
#define FAIRLEAD_BASE_LABELS_H_

#include <map>
#include <string>
#include <string_view>

namespace fairlead {

// Kubernetes labels or annotations, sorted by key so that whatever is made from them has one order.
using LabelMap = std::map<std::string, std::string, std::less<>>;

// Whether `labels` has every pair of `selector`; an empty selector matches everything.
inline bool SelectorMatches(const LabelMap& selector, const LabelMap& labels) {
  for (const auto& [key, value] : selector) {
    auto it = labels.find(key);
    if (it == labels.end() || it->second != value) return false;
  }
  return true;
}

// The label's value, or "" where it is absent.
inline std::string_view LabelOr(const LabelMap& labels, std::string_view key,
                                std::string_view fallback = "") {
  auto it = labels.find(key);
  return it == labels.end() ? fallback : std::string_view(it->second);
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LABELS_H_
