#include "injection/yaml_text.h"

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "base/strings.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

// Letters, and what never means anything within a word that begins with a letter; words of YAML 1.1 are
// excluded.
bool IsPlain(std::string_view text) {
  if (text.empty() || text.size() > 200) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inner = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
  };
  if (!(letter(text[0]) || text[0] == '/') || !std::all_of(text.begin(), text.end(), inner)) return false;
  const std::string lower = AsciiLower(text);
  for (std::string_view word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (lower == word) return false;
  }
  return true;
}

bool IsBlock(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text[0] == ' ' || text[0] == '\n') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); });
}

class Writer {
 public:
  void Value(const Json& value, size_t indent) {
    if (value.is_object() && !value.empty()) {
      Object(value, indent, false);
    } else if (value.is_array() && !value.empty()) {
      List(value, indent);
    } else {
      Scalar(value, indent);
      text_ += '\n';
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  void Begin(size_t indent) { text_.append(indent, ' '); }

  void Object(const Json& object, size_t indent, bool begun) {
    for (const auto& [key, value] : object.items()) {
      if (!begun) Begin(indent);
      begun = false;
      StrAppend(&text_, IsPlain(key) ? key : JsonText(Json(key)), ":");
      Below(value, indent);
    }
  }

  void Below(const Json& value, size_t indent) {
    if (value.is_object() && !value.empty()) {
      text_ += '\n';
      Object(value, indent + 2, false);
    } else if (value.is_array() && !value.empty()) {
      text_ += '\n';
      List(value, indent);
    } else {
      text_ += ' ';
      Scalar(value, indent + 2);
      text_ += '\n';
    }
  }

  void List(const Json& list, size_t indent) {
    for (const Json& element : list) {
      Begin(indent);
      text_ += '-';
      if (element.is_object() && !element.empty()) {
        text_ += ' ';
        Object(element, indent + 2, true);
      } else {
        Below(element, indent + 2);
      }
    }
  }

  void Scalar(const Json& value, size_t indent) {
    const std::string text = TextOf(value);
    if (!value.is_string()) {
      text_ += JsonText(value);
    } else if (IsPlain(text)) {
      text_ += text;
    } else if (IsBlock(text)) {
      Block(text, indent);
    } else {
      text_ += JsonText(value);
    }
  }

  void Block(std::string_view text, size_t indent) {
    const bool ended = text.ends_with('\n');
    text_ += ended ? text.ends_with("\n\n") ? "|+" : "|" : "|-";
    if (ended) text.remove_suffix(1);
    for (std::string_view line : Split(text, '\n')) {
      text_ += '\n';
      if (line.empty()) continue;
      Begin(indent);
      text_ += line;
    }
  }

  std::string text_;
};

}  // namespace

std::string YamlText(const Json& value) {
  Writer writer;
  writer.Value(value, 0);
  return writer.Take();
}

}  // namespace fairlead::injection
