#ifndef FAIRLEAD_CONFIG_TREE_H_
#define FAIRLEAD_CONFIG_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace fairlead::config {

enum class NodeType : uint8_t { kNull, kBool, kInt, kFloat, kString, kSequence, kMapping };

// "null", "boolean", "integer", "number", "string", "list", "mapping": as messages to users name them.
std::string_view NameOf(NodeType type);

// One node of a Tree, by value; valid as long as its tree. A default one stands for "absent": every accessor
// may be called on it and answers as for a node that has nothing, so that paths can be followed without a
// check each step:
//   route.Find("spec").Find("parentRefs").At(0).Find("name").String()
class Node {
 public:
  struct Data {
    const char* text;  // of a scalar, in the tree's memory
    uint32_t size;     // bytes of a scalar's text; elements of a sequence; entries of a mapping
    uint32_t line;     // 1-based
    uint32_t span;     // nodes of the subtree, this one included: the next sibling is that far away
    NodeType type;
  };
  struct Entry;
  class Elements;
  class Entries;

  Node() = default;
  explicit Node(const Data* at) : at_(at) {}

  explicit operator bool() const { return at_ != nullptr; }
  NodeType type() const { return at_ ? at_->type : NodeType::kNull; }
  // Absent counts as null: Kubernetes and protobuf read `key: null` as if the key was not there.
  bool IsNull() const { return type() == NodeType::kNull; }
  bool IsMapping() const { return type() == NodeType::kMapping; }
  bool IsSequence() const { return type() == NodeType::kSequence; }
  bool IsString() const { return type() == NodeType::kString; }
  bool IsScalar() const { return type() < NodeType::kSequence; }
  int line() const { return at_ ? static_cast<int>(at_->line) : 0; }
  // Elements of a sequence, entries of a mapping; 0 for others.
  size_t size() const { return at_ && !IsScalar() ? at_->size : 0; }

  // A scalar's text: escapes and folding resolved; integers in decimal, booleans "true" or "false", null "".
  std::string_view text() const { return at_ && IsScalar() ? std::string_view(at_->text, at_->size) : ""; }
  // The text of a string; the fallback for every other type.
  std::string_view String(std::string_view fallback = "") const { return IsString() ? text() : fallback; }
  bool Bool(bool fallback = false) const { return type() == NodeType::kBool ? text() == "true" : fallback; }
  // Of an integer, or of a float without a fraction, that fits; nothing for every other node.
  std::optional<int64_t> Int() const;
  std::optional<uint64_t> Unsigned() const;
  // Of an integer or a float.
  std::optional<double> Double() const;

  // The value of a mapping's key; absent where there is none or this is no mapping. Linear in the entries.
  Node Find(std::string_view key) const;
  // The element of a sequence; absent beyond its end. Linear.
  Node At(size_t index) const;
  // for (Node element : node.elements()); nothing unless a sequence.
  Elements elements() const;
  // for (const Node::Entry& entry : node.entries()); nothing unless a mapping. In the order of the text.
  Entries entries() const;

  // Stable over processes and machines, and independent of the order of mapping keys and of positions.
  Hash128 Hash() const;

  const Data* data() const { return at_; }

 private:
  const Data* at_ = nullptr;
};

struct Node::Entry {
  std::string_view key;
  int key_line;
  Node value;
};

class Node::Elements {
 public:
  class Iterator {
   public:
    explicit Iterator(const Data* at) : at_(at) {}
    Node operator*() const { return Node(at_); }
    Iterator& operator++() {
      at_ += at_->span;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Data* at_;
  };
  Elements(const Data* begin, const Data* end) : begin_(begin), end_(end) {}
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  const Data* begin_;
  const Data* end_;
};

class Node::Entries {
 public:
  class Iterator {
   public:
    explicit Iterator(const Data* at) : at_(at) {}
    Entry operator*() const {
      return {std::string_view(at_->text, at_->size), static_cast<int>(at_->line), Node(at_ + 1)};
    }
    Iterator& operator++() {
      at_ += 1 + at_[1].span;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Data* at_;
  };
  Entries(const Data* begin, const Data* end) : begin_(begin), end_(end) {}
  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  const Data* begin_;
  const Data* end_;
};

inline Node::Elements Node::elements() const {
  return IsSequence() ? Elements(at_ + 1, at_ + at_->span) : Elements(nullptr, nullptr);
}
inline Node::Entries Node::entries() const {
  return IsMapping() ? Entries(at_ + 1, at_ + at_->span) : Entries(nullptr, nullptr);
}

// A document of scalars, sequences and mappings with string keys, as JSON has them, each node with its line.
// Owns all that its nodes point to and never changes once built (by TreeBuilder), so any thread may read it;
// movable, not copyable. Nodes lie in one array in the order of the text, 24 bytes each, scalars' text in a
// few blocks.
class Tree {
 public:
  Tree() = default;
  Tree(Tree&&) = default;
  Tree& operator=(Tree&&) = default;

  Node root() const { return nodes_.empty() ? Node() : Node(nodes_.data()); }
  // Of the root, for short.
  Node Find(std::string_view key) const { return root().Find(key); }

 private:
  friend class TreeBuilder;
  std::vector<Node::Data> nodes_;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_TREE_H_
