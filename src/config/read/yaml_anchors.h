#ifndef FAIRLEAD_CONFIG_READ_YAML_ANCHORS_H_
#define FAIRLEAD_CONFIG_READ_YAML_ANCHORS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace fairlead::config {

// Nodes [first, second) of a tree that is being built.
using NodeRange = std::pair<size_t, size_t>;

// The anchors of a document by name: the node of each. A name that is given again means its latest node from
// then on. One thread at a time.
class YamlAnchors {
 public:
  void Clear();
  // REQUIRES: no anchor has a later node.
  void Add(std::string_view name, size_t node);
  std::optional<size_t> Find(std::string_view name) const;
  // The nodes of these ranges are gone, with their anchors, and those behind have moved up. Costs as much as
  // there are anchors behind the first range's first. REQUIRES: sorted, apart from each other.
  void Remove(std::span<const NodeRange> ranges);

 private:
  struct Anchor {
    std::string name;
    size_t node;
  };
  std::vector<Anchor> anchors_;  // in the order of the nodes
  StringMap<size_t> latest_;     // by name: index into anchors_
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_YAML_ANCHORS_H_
