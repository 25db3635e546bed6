#include "config/tree_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::config {

void TreeBuilder::CountChild() {
  if (!stack_.empty() && nodes_[stack_.back()].type == NodeType::kSequence) ++nodes_[stack_.back()].size;
}

void TreeBuilder::Begin(NodeType type, int line) {
  CountChild();
  stack_.push_back(nodes_.size());
  nodes_.push_back({nullptr, 0, static_cast<uint32_t>(line), 1, type});
}

void TreeBuilder::End() {
  const size_t at = stack_.back();
  stack_.pop_back();
  nodes_[at].span = static_cast<uint32_t>(nodes_.size() - at);
}

void TreeBuilder::Key(std::string_view key, int line) {
  ++nodes_[stack_.back()].size;
  nodes_.push_back(
      {Store(key), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(line), 1, NodeType::kString});
}

void TreeBuilder::Scalar(NodeType type, std::string_view text, int line) {
  CountChild();
  nodes_.push_back({Store(text), static_cast<uint32_t>(text.size()), static_cast<uint32_t>(line), 1, type});
}

void TreeBuilder::Copy(Node node) {
  if (node.IsMapping()) {
    BeginMapping(node.line());
    for (const Node::Entry& entry : node.entries()) {
      Key(entry.key, entry.key_line);
      Copy(entry.value);
    }
    End();
  } else if (node.IsSequence()) {
    BeginSequence(node.line());
    for (Node element : node.elements()) Copy(element);
    End();
  } else {
    Scalar(node.type(), node.text(), node.line());
  }
}

void TreeBuilder::CopyBuilt(size_t index) {
  CountChild();
  const size_t count = nodes_[index].span, end = nodes_.size();
  nodes_.resize(end + count);
  std::copy_n(nodes_.begin() + static_cast<ptrdiff_t>(index), count,
              nodes_.begin() + static_cast<ptrdiff_t>(end));
}

void TreeBuilder::RemoveEntries(std::span<const std::pair<size_t, size_t>> entries) {
  if (entries.empty()) return;
  size_t kept = entries.front().first;
  for (size_t i = 0; i < entries.size(); ++i) {
    const size_t next = i + 1 < entries.size() ? entries[i + 1].first : nodes_.size();
    std::copy(nodes_.begin() + static_cast<ptrdiff_t>(entries[i].second),
              nodes_.begin() + static_cast<ptrdiff_t>(next), nodes_.begin() + static_cast<ptrdiff_t>(kept));
    kept += next - entries[i].second;
  }
  nodes_.resize(kept);
  nodes_[stack_.back()].size -= static_cast<uint32_t>(entries.size());
}

const char* TreeBuilder::Store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > left_) {
    // Small trees in small blocks, large ones in few.
    const size_t grown = std::min(kLargestBlock, kSmallestBlock << std::min<size_t>(blocks_.size(), 16));
    left_ = std::max(grown, text.size());
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(left_), left_});
    free_ = blocks_.back().bytes.get();
  }
  std::memcpy(free_, text.data(), text.size());
  const char* stored = free_;
  free_ += text.size();
  left_ -= text.size();
  return stored;
}

Tree TreeBuilder::Build() {
  Tree tree;
  tree.nodes_ = nodes_;  // a copy has no spare capacity
  for (Block& block : blocks_) tree.blocks_.push_back(std::move(block.bytes));
  blocks_.clear();
  Clear();
  return tree;
}

void TreeBuilder::Clear() {
  nodes_.clear();
  stack_.clear();
  if (blocks_.size() > 1) {
    std::swap(blocks_.front(), blocks_.back());
    blocks_.resize(1);
  }
  free_ = blocks_.empty() ? nullptr : blocks_.front().bytes.get();
  left_ = blocks_.empty() ? 0 : blocks_.front().size;
}

}  // namespace fairlead::config
