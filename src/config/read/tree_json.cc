#include "config/read/tree_json.h"

#include <cmath>
#include <string>

namespace fairlead::config {
namespace {

using Json = nlohmann::ordered_json;

Json NumberJson(Node node) {
  if (node.type() == NodeType::kInt) {
    if (const auto number = node.Int()) return *number;
    if (const auto number = node.Unsigned()) return *number;
  }
  if (const auto number = node.Double(); number && std::isfinite(*number)) return *number;
  return std::string(node.text());
}

}  // namespace

Json ToJson(Node node) {
  switch (node.type()) {
    case NodeType::kNull:
      return nullptr;
    case NodeType::kBool:
      return node.Bool();
    case NodeType::kInt:
    case NodeType::kFloat:
      return NumberJson(node);
    case NodeType::kString:
      return std::string(node.text());
    case NodeType::kSequence: {
      Json list = Json::array();
      for (Node element : node.elements()) list.push_back(ToJson(element));
      return list;
    }
    case NodeType::kMapping: {
      Json map = Json::object();
      for (const Node::Entry& entry : node.entries()) map[std::string(entry.key)] = ToJson(entry.value);
      return map;
    }
  }
  return nullptr;
}

}  // namespace fairlead::config
