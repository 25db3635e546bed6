#ifndef FAIRLEAD_CONFIG_READ_YAML_COMPOSER_H_
#define FAIRLEAD_CONFIG_READ_YAML_COMPOSER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/read/yaml.h"
#include "config/read/yaml_anchors.h"
#include "config/read/yaml_events.h"
#include "config/tree_builder.h"

namespace fairlead::config {

// Makes a document's tree from its YAML events: resolves scalars, expands aliases and merge keys, finds
// duplicate keys. Its messages quote nothing of the text, since nobody knows the document's kind so far.
// Aliases and merges add at most 200,000 nodes to a text, and one more for each of its bytes. One thread at a
// time.
class YamlComposer {
 public:
  explicit YamlComposer(size_t text_size);
  // Forgets the document before.
  void Start();
  // Takes the next event between a document's start and end.
  void Take(const YamlEvents& events);

  // Gives the document up, with a problem where it stands.
  void Fail(std::string_view code, int line, std::string_view message);
  // Says more of the problem that was found last. REQUIRES: there is one.
  void AddHint(std::string_view hint) { problems_.back().message.append(hint); }

  // Once the document has ended. A failed document has no root.
  bool failed() const { return failed_; }
  Node root() const { return failed_ || builder_.size() == 0 ? Node() : builder_.Built(0); }
  const std::vector<YamlProblem>& problems() const { return problems_; }

 private:
  // A sequence or mapping that is open.
  struct Frame {
    size_t node;
    bool mapping;
    bool key_next = true;             // of a mapping
    bool duplicate = false;           // the entry at hand repeats a key: its value is read and forgotten
    size_t entry = 0;                 // node of the entry's key
    std::vector<size_t> merges;       // nodes of `<<` keys
    std::unique_ptr<StringSet> keys;  // of a mapping too large for comparing one by one
  };

  void TakeScalar(const YamlEvents& events);
  void TakeAlias(const YamlEvents& events);
  void Open(const YamlEvents& events, bool mapping);
  void Close(int line);
  void TakeKey(std::string_view key, bool merge, int line);
  void ValueDone();
  bool HasKey(Frame& frame, std::string_view key);
  void ExpandMerges(Frame& frame, int line);
  void MergeFrom(size_t mapping, int line_of_merge, Frame& frame);
  void RemoveEntries(std::span<const NodeRange> entries);
  bool SpendNodes(size_t nodes, int line);
  void Remember(const unsigned char* anchor);
  bool WantsKey() const { return !frames_.empty() && frames_.back().mapping && frames_.back().key_next; }
  std::string Path() const;

  TreeBuilder builder_;
  std::vector<Frame> frames_;
  YamlAnchors anchors_;
  size_t alias_nodes_left_;  // that aliases and merges may still add to the text
  bool failed_ = false;
  std::vector<YamlProblem> problems_;
  std::string scratch_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_YAML_COMPOSER_H_
