#include "config/tree.h"

#include <charconv>
#include <cmath>

namespace fairlead::config {
namespace {

template <typename Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

// Integers may be written as 1e3 or 10.0.
template <typename Integer>
std::optional<Integer> ExactInteger(double value, double limit) {
  if (value != std::trunc(value) || value >= limit || value < -limit) return std::nullopt;
  if (value < 0 && !std::is_signed_v<Integer>) return std::nullopt;
  return static_cast<Integer>(value);
}

}  // namespace

std::string_view NameOf(NodeType type) {
  switch (type) {
    case NodeType::kNull:
      return "null";
    case NodeType::kBool:
      return "boolean";
    case NodeType::kInt:
      return "integer";
    case NodeType::kFloat:
      return "number";
    case NodeType::kString:
      return "string";
    case NodeType::kSequence:
      return "list";
    case NodeType::kMapping:
      return "mapping";
  }
  return "";
}

std::optional<int64_t> Node::Int() const {
  if (type() == NodeType::kInt) return ParseWhole<int64_t>(text());
  if (type() != NodeType::kFloat) return std::nullopt;
  const std::optional<double> value = Double();
  return value ? ExactInteger<int64_t>(*value, 0x1p63) : std::nullopt;
}

std::optional<uint64_t> Node::Unsigned() const {
  if (type() == NodeType::kInt) return ParseWhole<uint64_t>(text());
  if (type() != NodeType::kFloat) return std::nullopt;
  const std::optional<double> value = Double();
  return value ? ExactInteger<uint64_t>(*value, 0x1p64) : std::nullopt;
}

std::optional<double> Node::Double() const {
  if (type() != NodeType::kInt && type() != NodeType::kFloat) return std::nullopt;
  std::string_view number = text();
  if (number.starts_with('+')) number.remove_prefix(1);
  if (number == ".inf") return HUGE_VAL;
  if (number == "-.inf") return -HUGE_VAL;
  if (number == ".nan") return std::nan("");
  return ParseWhole<double>(number);
}

Node Node::Find(std::string_view key) const {
  for (const Entry& entry : entries()) {
    if (entry.key == key) return entry.value;
  }
  return Node();
}

Node Node::At(size_t index) const {
  if (index >= size()) return Node();
  for (Node element : elements()) {
    if (index-- == 0) return element;
  }
  return Node();
}

Hash128 Node::Hash() const {
  switch (type()) {
    case NodeType::kSequence: {
      Hash128 hash = {1, size()};
      for (Node element : elements()) hash = StableHash(hash, element.Hash());
      return hash;
    }
    case NodeType::kMapping: {
      Hash128 sum;  // of the entries: their order has no meaning
      for (const Entry& entry : entries()) sum += StableHash(StableHash(entry.key), entry.value.Hash());
      return StableHash(sum, {2, size()});
    }
    default:
      return StableHash(StableHash(text()), {3, static_cast<uint64_t>(type())});
  }
}

}  // namespace fairlead::config
