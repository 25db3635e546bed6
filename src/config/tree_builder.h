#ifndef FAIRLEAD_CONFIG_TREE_BUILDER_H_
#define FAIRLEAD_CONFIG_TREE_BUILDER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "config/tree.h"

namespace fairlead::config {

// Makes a Tree, node after node in the order of the text:
//   builder.BeginMapping(1); builder.Key("name", 1); builder.Scalar(NodeType::kString, "a", 1);
//   builder.End();
// The caller closes what it opens and gives every key a value. One thread at a time.
class TreeBuilder {
 public:
  void BeginMapping(int line) { Begin(NodeType::kMapping, line); }
  void BeginSequence(int line) { Begin(NodeType::kSequence, line); }
  // Closes the sequence or mapping opened last.
  void End();
  void Key(std::string_view key, int line);
  // The text is copied; it must be in the form that Node::text() promises.
  void Scalar(NodeType type, std::string_view text, int line);
  // A whole subtree, of any tree.
  void Copy(Node node);

  // Nodes so far: for what a text says once and means several times (aliases, merges).
  size_t size() const { return nodes_.size(); }
  // Forgets keys with their closed values, of the innermost open mapping: an entry a range of nodes
  // [begin, end), in order. Costs as much as there are nodes behind the first one's begin.
  void RemoveEntries(std::span<const std::pair<size_t, size_t>> entries);
  // The nodes of a closed subtree of the tree that is being built, for reading; invalid after the next
  // addition.
  Node Built(size_t index) const { return Node(nodes_.data() + index); }
  // Appends a copy of the closed subtree at `index`.
  void CopyBuilt(size_t index);
  // The innermost open sequence or mapping; its node, and its elements or entries so far.
  size_t open() const { return stack_.back(); }
  size_t open_size() const { return nodes_[stack_.back()].size; }
  size_t depth() const { return stack_.size(); }

  // The finished tree; the builder is empty again.
  Tree Build();
  // Everything forgotten, memory kept.
  void Clear();

 private:
  void Begin(NodeType type, int line);
  void CountChild();
  const char* Store(std::string_view text);

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  static constexpr size_t kSmallestBlock = 256;
  static constexpr size_t kLargestBlock = 64 << 10;
  std::vector<Node::Data> nodes_;
  std::vector<size_t> stack_;  // indexes of what is open
  std::vector<Block> blocks_;
  char* free_ = nullptr;
  size_t left_ = 0;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_TREE_BUILDER_H_
