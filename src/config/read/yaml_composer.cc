#include "config/read/yaml_composer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "config/field_path.h"
#include "config/read/yaml_scalar.h"

namespace fairlead::config {
namespace {

constexpr size_t kDeepestNesting = 200;
constexpr size_t kDeepestPath = 30;          // that a message names
constexpr size_t kMostAliasNodes = 200'000;  // and one for each byte of the text
constexpr size_t kKeysComparedOneByOne = 12;

std::string_view Text(const unsigned char* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// How Go writes a number that is a key: 1.50 as "1.5". Nothing for what is no finite number.
std::string ShortestFloat(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  float value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return "";
  char digits[64];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

struct TaggedScalar {
  ScalarMeaning meaning;
  bool tag_fits = true;
};

// A scalar with a tag of YAML's own; a tag that is not known leaves a string, as in Go's YAML library.
TaggedScalar ResolveTagged(std::string_view tag, std::string_view text, std::string& storage) {
  constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
  const std::string_view name = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : "";
  if (name == "binary") {
    std::optional<std::string> bytes = DecodeBase64(text);
    storage = bytes.value_or("");
    return {{NodeType::kString, storage}, bytes.has_value()};
  }
  NodeType wanted = NodeType::kString;
  if (name == "bool") wanted = NodeType::kBool;
  if (name == "int") wanted = NodeType::kInt;
  if (name == "float") wanted = NodeType::kFloat;
  if (name == "null") wanted = NodeType::kNull;
  if (wanted == NodeType::kString) return {{NodeType::kString, text}};
  ScalarMeaning meaning = ResolvePlainScalar(text, storage);
  if (wanted == NodeType::kFloat && meaning.type == NodeType::kInt) meaning.type = NodeType::kFloat;
  return {meaning, meaning.type == wanted};
}

}  // namespace

YamlComposer::YamlComposer(size_t text_size) : alias_nodes_left_(kMostAliasNodes + text_size) {}

void YamlComposer::Start() {
  builder_.Clear();
  frames_.clear();
  anchors_.Clear();
  failed_ = false;
  problems_.clear();
}

void YamlComposer::Take(const YamlEvents& events) {
  if (failed_) return;
  switch (events.event().type) {
    case YAML_SCALAR_EVENT:
      return TakeScalar(events);
    case YAML_ALIAS_EVENT:
      return TakeAlias(events);
    case YAML_SEQUENCE_START_EVENT:
      return Open(events, false);
    case YAML_MAPPING_START_EVENT:
      return Open(events, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return Close(events.line());
    default:
      return;
  }
}

void YamlComposer::TakeScalar(const YamlEvents& events) {
  const auto& scalar = events.event().data.scalar;
  const std::string_view text = events.value();
  ScalarMeaning meaning{NodeType::kString, text};
  if (scalar.plain_implicit) {
    meaning = ResolvePlainScalar(text, scratch_);
  } else if (scalar.tag != nullptr) {
    const TaggedScalar tagged = ResolveTagged(Text(scalar.tag), text, scratch_);
    if (!tagged.tag_fits) {
      return Fail("wrong-tag", events.line(),
                  StrCat("the value is not what its tag ", Text(scalar.tag), " says"));
    }
    meaning = tagged.meaning;
  }
  if (WantsKey()) {
    if (meaning.type == NodeType::kNull) return Fail("unsupported-key", events.line(), "a key is null");
    const bool merge = scalar.plain_implicit && text == "<<";
    const std::string number = meaning.type == NodeType::kFloat ? ShortestFloat(meaning.text) : "";
    TakeKey(number.empty() ? meaning.text : std::string_view(number), merge, events.line());
    if (scalar.anchor != nullptr) anchors_.Add(Text(scalar.anchor), builder_.size() - 1);
    return;
  }
  Remember(scalar.anchor);
  builder_.Scalar(meaning.type, meaning.text, events.line());
  ValueDone();
}

void YamlComposer::TakeAlias(const YamlEvents& events) {
  const std::string_view name = Text(events.event().data.alias.anchor);
  const std::optional<size_t> found = anchors_.Find(name);
  if (!found) return Fail("unknown-anchor", events.line(), "there is no anchor of this alias's name");
  const size_t node = *found;
  const bool open =
      std::any_of(frames_.begin(), frames_.end(), [&](const Frame& f) { return f.node == node; });
  if (open) return Fail("recursive-anchor", events.line(), "what the alias stands for contains itself");
  const Node built = builder_.Built(node);
  if (WantsKey()) {
    if (!built.IsScalar()) return Fail("unsupported-key", events.line(), "a key is a list or a mapping");
    return TakeKey(std::string(built.text()), false, events.line());
  }
  if (!SpendNodes(built.data()->span, events.line())) return;
  builder_.CopyBuilt(node);
  ValueDone();
}

void YamlComposer::Open(const YamlEvents& events, bool mapping) {
  if (WantsKey()) return Fail("unsupported-key", events.line(), "a key is a list or a mapping");
  if (frames_.size() >= kDeepestNesting)
    return Fail("too-deep", events.line(), "nested more than 200 levels deep");
  Remember(mapping ? events.event().data.mapping_start.anchor : events.event().data.sequence_start.anchor);
  Frame& frame = frames_.emplace_back();
  frame.node = builder_.size();
  frame.mapping = mapping;
  if (mapping) {
    builder_.BeginMapping(events.line());
  } else {
    builder_.BeginSequence(events.line());
  }
}

void YamlComposer::Close(int line) {
  if (!frames_.back().merges.empty()) ExpandMerges(frames_.back(), line);
  if (failed_) return;
  frames_.pop_back();
  builder_.End();
  ValueDone();
}

void YamlComposer::TakeKey(std::string_view key, bool merge, int line) {
  Frame& frame = frames_.back();
  frame.duplicate = !merge && HasKey(frame, key);
  frame.key_next = false;
  frame.entry = builder_.size();
  builder_.Key(key, line);
  if (merge) frame.merges.push_back(frame.entry);
  if (frame.duplicate)
    problems_.push_back({line, "duplicate-key", Path(), "this key is there twice; the first one counts"});
}

bool YamlComposer::HasKey(Frame& frame, std::string_view key) {
  const Node mapping = builder_.Built(frame.node);
  if (frame.keys == nullptr && builder_.open_size() > kKeysComparedOneByOne)
    frame.keys = std::make_unique<StringSet>();
  const bool all = frame.keys != nullptr && frame.keys->empty();
  if (frame.keys != nullptr && !all) return !frame.keys->insert(std::string(key)).second;
  // The open mapping's own span is not known yet: its entries are walked by count.
  const Node::Data* at = mapping.data() + 1;
  bool found = false;
  for (uint32_t i = 0; i < mapping.data()->size; ++i, at += 1 + at[1].span) {
    const std::string_view other(at->text, at->size);
    found = found || other == key;
    if (all) frame.keys->insert(std::string(other));
  }
  if (all) frame.keys->insert(std::string(key));
  return found;
}

void YamlComposer::ValueDone() {
  if (frames_.empty() || !frames_.back().mapping) return;
  Frame& frame = frames_.back();
  frame.key_next = true;
  const NodeRange entry[] = {{frame.entry, builder_.size()}};
  if (std::exchange(frame.duplicate, false)) RemoveEntries(entry);
}

// Nodes behind an entry move up, and the anchors with them.
void YamlComposer::RemoveEntries(std::span<const NodeRange> entries) {
  builder_.RemoveEntries(entries);
  anchors_.Remove(entries);
}

bool YamlComposer::SpendNodes(size_t nodes, int line) {
  if (nodes > alias_nodes_left_) {
    Fail("excessive-aliases", line, "aliases make the document too large");
    return false;
  }
  alias_nodes_left_ -= nodes;
  return true;
}

// Entries that are written out win over merged ones, and earlier merges over later ones.
void YamlComposer::ExpandMerges(Frame& frame, int line) {
  for (size_t key : frame.merges) {
    const Node source = builder_.Built(key + 1);
    if (source.IsMapping()) {
      MergeFrom(key + 1, line, frame);
      if (failed_) return;
      continue;
    }
    size_t element = key + 2;
    const size_t count = source.size();
    if (!source.IsSequence()) return Fail("wrong-merge", line, "<< takes a mapping or a list of mappings");
    for (size_t i = 0; i < count; ++i, element += builder_.Built(element).data()->span) {
      if (!builder_.Built(element).IsMapping()) return Fail("wrong-merge", line, "<< takes mappings only");
      MergeFrom(element, line, frame);
      if (failed_) return;
    }
  }
  std::vector<NodeRange> merged;
  merged.reserve(frame.merges.size());
  for (size_t key : frame.merges) merged.emplace_back(key, key + 1 + builder_.Built(key + 1).data()->span);
  RemoveEntries(merged);
}

void YamlComposer::MergeFrom(size_t mapping, int line_of_merge, Frame& frame) {
  size_t key = mapping + 1;
  const size_t count = builder_.Built(mapping).size();
  if (!SpendNodes(builder_.Built(mapping).data()->span, line_of_merge)) return;
  for (size_t i = 0; i < count; ++i) {
    const Node name = builder_.Built(key);
    const std::string text(name.text());
    const int line = name.line();
    if (!HasKey(frame, text)) {
      builder_.Key(text, line);
      builder_.CopyBuilt(key + 1);
    }
    key += 1 + builder_.Built(key + 1).data()->span;
  }
}

void YamlComposer::Remember(const unsigned char* anchor) {
  if (anchor != nullptr) anchors_.Add(Text(anchor), builder_.size());
}

std::string YamlComposer::Path() const {
  std::string path;
  if (frames_.size() > kDeepestPath) return path;
  for (const Frame& frame : frames_) {
    if (frame.mapping) {
      if (!frame.key_next) AppendKey(path, builder_.Built(frame.entry).text());
    } else {
      const size_t size = builder_.Built(frame.node).data()->size;
      AppendIndex(path, size == 0 ? 0 : size - 1);
    }
  }
  return path;
}

void YamlComposer::Fail(std::string_view code, int line, std::string_view message) {
  problems_.push_back({line, std::string(code), Path(), std::string(message)});
  failed_ = true;
}

}  // namespace fairlead::config
