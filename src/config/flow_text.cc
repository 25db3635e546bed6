#include "config/flow_text.h"

#include <cstdio>

#include "base/strings.h"

namespace fairlead::config {
namespace {

// YAML looks for the colon of a key within 1024 characters, unless the key is announced.
// Source: YAML 1.1, 7.4 (implicit keys)
constexpr size_t kLongKey = 200;

class FlowWriter {
 public:
  explicit FlowWriter(int line) : line_(line) {}

  void Document(Node node, std::string_view kind) {
    if (kind.empty() || node.Find("kind")) return Value(node);
    text_ += "{\"kind\": ";
    Quote(kind);
    for (const Node::Entry& entry : node.entries()) {
      text_ += ", ";
      Entry(entry);
    }
    text_ += '}';
  }
  std::string Take() { return std::move(text_); }

 private:
  // Lines never go back: what an alias stands for has the line of its anchor.
  void GoTo(int line) {
    for (; line_ < line; ++line_) text_ += '\n';
  }

  void Value(Node node) {
    GoTo(node.line());
    switch (node.type()) {
      case NodeType::kNull:
        text_ += "null";
        return;
      case NodeType::kBool:
      case NodeType::kInt:
      case NodeType::kFloat:
        text_ += node.text();
        return;
      case NodeType::kString:
        return Quote(node.text());
      case NodeType::kSequence:
        return Sequence(node);
      case NodeType::kMapping:
        return Mapping(node);
    }
  }

  void Sequence(Node node) {
    std::string_view separator;
    text_ += '[';
    for (const Node element : node.elements()) {
      text_ += separator;
      separator = ", ";
      Value(element);
    }
    text_ += ']';
  }

  void Mapping(Node node) {
    std::string_view separator;
    text_ += '{';
    for (const Node::Entry& entry : node.entries()) {
      text_ += separator;
      separator = ", ";
      Entry(entry);
    }
    text_ += '}';
  }

  void Entry(const Node::Entry& entry) {
    GoTo(entry.key_line);
    if (entry.key.size() > kLongKey) text_ += "? ";
    Quote(entry.key);
    text_ += ": ";
    Value(entry.value);
  }

  void Escape(unsigned code) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", code);
    text_ += escape;
  }

  // What YAML takes for no character or for a line's end is escaped; UTF-8 besides that stays as it is.
  void Quote(std::string_view text) {
    text_ += '"';
    for (size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte == '"' || byte == '\\') {
        text_ += '\\';
        text_ += text[i];
      } else if (byte < 0x20 || byte == 0x7f) {
        Escape(byte);
      } else if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
        Escape(static_cast<unsigned char>(text[++i]));
      } else if (text.substr(i).starts_with("\xe2\x80\xa8") || text.substr(i).starts_with("\xe2\x80\xa9")) {
        Escape(0x2000u + (static_cast<unsigned char>(text[i + 2]) - 0x80u));
        i += 2;
      } else if (text.substr(i).starts_with("\xef\xbb\xbf")) {
        Escape(0xfeff);
        i += 2;
      } else {
        text_ += text[i];
      }
    }
    text_ += '"';
  }

  int line_;
  std::string text_;
};

}  // namespace

std::string FlowText(Node document, std::string_view kind) {
  FlowWriter writer(document.line());
  writer.Document(document, kind);
  return writer.Take();
}

}  // namespace fairlead::config
