#include "config/read/yaml_anchors.h"

#include <algorithm>
#include <utility>

namespace fairlead::config {

void YamlAnchors::Clear() {
  anchors_.clear();
  latest_.clear();
}

void YamlAnchors::Add(std::string_view name, size_t node) {
  latest_[name] = anchors_.size();
  anchors_.push_back({std::string(name), node});
}

std::optional<size_t> YamlAnchors::Find(std::string_view name) const {
  const auto found = latest_.find(name);
  if (found == latest_.end()) return std::nullopt;
  return anchors_[found->second].node;
}

void YamlAnchors::Remove(std::span<const NodeRange> ranges) {
  if (ranges.empty()) return;
  const auto begin = std::lower_bound(anchors_.begin(), anchors_.end(), ranges.front().first,
                                      [](const Anchor& anchor, size_t node) { return anchor.node < node; });
  size_t kept = static_cast<size_t>(begin - anchors_.begin()), removed = 0;
  size_t range = 0;
  for (size_t i = kept; i < anchors_.size(); ++i) {
    Anchor& anchor = anchors_[i];
    for (; range < ranges.size() && ranges[range].second <= anchor.node; ++range)
      removed += ranges[range].second - ranges[range].first;
    const auto latest = latest_.find(anchor.name);
    const bool is_latest = latest != latest_.end() && latest->second == i;
    if (range < ranges.size() && ranges[range].first <= anchor.node) {
      if (is_latest) latest_.erase(latest);
      continue;
    }
    if (is_latest) latest->second = kept;
    anchor.node -= removed;
    if (kept != i) anchors_[kept] = std::move(anchor);
    ++kept;
  }
  anchors_.resize(kept);
}

}  // namespace fairlead::config
