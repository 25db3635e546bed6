#include <utility>

#include "config/cel/cel.h"

namespace fairlead::config {

using Type = CelValue::Type;

CelValue CelValue::Error(std::string message) {
  CelValue value;
  value.type = Type::kError;
  value.text = std::move(message);
  return value;
}

CelValue CelValue::Bool(bool truth) {
  CelValue value;
  value.type = Type::kBool;
  value.truth = truth;
  return value;
}

CelValue CelValue::Int(int64_t integer) {
  CelValue value;
  value.type = Type::kInt;
  value.integer = integer;
  return value;
}

CelValue CelValue::Double(double number) {
  CelValue value;
  value.type = Type::kDouble;
  value.number = number;
  return value;
}

CelValue CelValue::String(std::string_view text) {
  CelValue value;
  value.type = Type::kString;
  value.text = text;
  return value;
}

CelValue CelValue::Of(Node node) {
  switch (node.type()) {
    case NodeType::kNull:
      return {};
    case NodeType::kBool:
      return Bool(node.Bool());
    case NodeType::kInt:
      if (const auto integer = node.Int()) return Int(*integer);
      return Double(node.Double().value_or(0));
    case NodeType::kFloat:
      return Double(node.Double().value_or(0));
    case NodeType::kString:
      return String(node.text());
    case NodeType::kSequence:
    case NodeType::kMapping:
      break;
  }
  CelValue value;
  value.type = node.IsSequence() ? Type::kList : Type::kMap;
  value.node = node;
  return value;
}

size_t CelValue::size() const {
  if (!node) return type == Type::kMap ? elements.size() / 2 : elements.size();
  if (node.IsSequence()) return node.size();
  size_t count = 0;
  for (const Node::Entry& entry : node.entries()) count += !entry.value.IsNull();
  return count;
}

bool operator==(const CelValue& a, const CelValue& b) {
  const auto number = [](const CelValue& value) {
    return value.type == Type::kInt ? static_cast<double>(value.integer) : value.number;
  };
  const auto is_number = [](const CelValue& value) {
    return value.type == Type::kInt || value.type == Type::kDouble;
  };
  if (is_number(a) && is_number(b) && a.type != b.type) return number(a) == number(b);
  if (a.type != b.type) return false;
  if (a.node && b.node) return a.node.Hash() == b.node.Hash();
  if (a.node || b.node) return a.size() == 0 && b.size() == 0;
  return a.truth == b.truth && a.integer == b.integer && a.number == b.number && a.text == b.text &&
         a.elements == b.elements;
}

}  // namespace fairlead::config
