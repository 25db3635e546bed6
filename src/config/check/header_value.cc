#include "config/check/http_route.h"

namespace fairlead::config::check {
namespace {

// Why Envoy would not read a value with its %VARIABLE(arguments)%, "" where it would. Arguments are free text
// up to ")", or a list of JSON strings in brackets.
class Formatted {
 public:
  explicit Formatted(std::string_view text) : rest_(text) {}

  std::string_view WhyNot() {
    while (!rest_.empty()) {
      const char c = Next();
      if (c != '%') continue;
      if (rest_.empty()) return "a single % at the end; write %%";
      if (rest_[0] == '%') {
        Next();
      } else if (const std::string_view why = Variable(); !why.empty()) {
        return why;
      }
    }
    return "";
  }

 private:
  static constexpr std::string_view kNoEnd = "a %VARIABLE% without an end";

  char Next() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }
  void SkipSpaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view Variable() {
    while (!rest_.empty()) {
      const char c = Next();
      if (c == '%') return "";
      if (c == '(') return Arguments();
    }
    return kNoEnd;
  }

  std::string_view Arguments() {
    SkipSpaces();
    if (rest_.empty()) return kNoEnd;
    if (Next() != '[') return Text();
    for (;;) {
      SkipSpaces();
      if (rest_.empty()) return kNoEnd;
      if (Next() != '"') return "expected a quoted text in the list of a variable";
      bool list_goes_on = false;
      if (const std::string_view why = Text(&list_goes_on); !why.empty() || !list_goes_on) return why;
      SkipSpaces();
      if (rest_.empty()) return kNoEnd;
      const char c = Next();
      if (c == ']') break;
      if (c != ',') return "expected \",\" or \"]\" in the list of a variable";
    }
    SkipSpaces();
    if (rest_.empty()) return kNoEnd;
    return Next() == ')' ? End() : "expected \")\" behind the list of a variable";
  }

  // Up to ")", or up to a quote, behind which a list goes on.
  std::string_view Text(bool* list_goes_on = nullptr) {
    while (!rest_.empty()) {
      const char c = Next();
      if (c == ')') return End();
      if (c == '\\') {
        if (rest_.empty()) return "a backslash at the end";
        Next();
      }
      if (c != '"') continue;
      if (list_goes_on != nullptr) {
        *list_goes_on = true;
        return "";
      }
      return ListBehindText();
    }
    return kNoEnd;
  }

  // Envoy takes a quote in free text for the end of a list's text.
  std::string_view ListBehindText() {
    SkipSpaces();
    if (rest_.empty()) return kNoEnd;
    const char c = Next();
    if (c != ',' && c != ']') return "a quote in a variable's arguments";
    SkipSpaces();
    if (rest_.empty()) return kNoEnd;
    if (c == ']') return Next() == ')' ? End() : "expected \")\" behind the list of a variable";
    return Next() == '"' ? Text() : "expected a quoted text in the list of a variable";
  }

  std::string_view End() {
    SkipSpaces();
    if (rest_.empty()) return kNoEnd;
    return Next() == '%' ? "" : "expected % behind the arguments of a variable";
  }

  std::string_view rest_;
};

}  // namespace

void CheckHeaderValue(std::string_view value, const Spot& at) {
  for (char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F)
      return at.Refuse("a header's value has no control characters");
  }
  at.Refuse(std::string(Formatted(value).WhyNot()));
}

}  // namespace fairlead::config::check
