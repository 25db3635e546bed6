#include <string>
#include <string_view>

#include "base/strings.h"
#include "injection/go_text.h"

// A reader of JSON that makes nothing of it, for the texts of encoding/json's syntax errors.
namespace fairlead::injection {
namespace {

constexpr int kMostDepth = 200;  // as config::JsonReader

class Syntax {
 public:
  explicit Syntax(std::string_view text) : text_(text) {}

  absl::Status Check() {
    if (Value(0)) {
      Blanks();
      if (at_ < text_.size()) Fail("after top-level value");
    }
    return error_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error_);
  }

 private:
  bool Fail(std::string_view where) {
    if (!error_.empty()) return false;
    error_ = at_ >= text_.size() ? "unexpected end of JSON input"
                                 : StrCat("invalid character ", Quoted(text_[at_]), " ", where);
    return false;
  }

  static std::string Quoted(char c) {
    if (c == '\'') return "'\\''";
    if (c == '"') return "'\"'";
    const std::string quoted = GoQuote(std::string_view(&c, 1));
    return StrCat("'", quoted.substr(1, quoted.size() - 2), "'");
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool Digits() {
    if (Peek() < '0' || Peek() > '9') return false;
    while (Peek() >= '0' && Peek() <= '9') ++at_;
    return true;
  }

  bool Value(int depth) {
    if (depth > kMostDepth) {
      error_ = "exceeded max depth";
      return false;
    }
    Blanks();
    switch (Peek()) {
      case '{':
        return Object(depth);
      case '[':
        return List(depth);
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool Object(int depth) {
    ++at_;
    Blanks();
    if (Peek() == '}') return ++at_ > 0;
    for (;;) {
      Blanks();
      if (Peek() != '"') return Fail("looking for beginning of object key string");
      if (!String()) return false;
      Blanks();
      if (Peek() != ':') return Fail("after object key");
      ++at_;
      if (!Value(depth + 1)) return false;
      Blanks();
      if (Peek() == '}') return ++at_ > 0;
      if (Peek() != ',') return Fail("after object key:value pair");
      ++at_;
    }
  }

  bool List(int depth) {
    ++at_;
    Blanks();
    if (Peek() == ']') return ++at_ > 0;
    for (;;) {
      if (!Value(depth + 1)) return false;
      Blanks();
      if (Peek() == ']') return ++at_ > 0;
      if (Peek() != ',') return Fail("after array element");
      ++at_;
    }
  }

  bool String() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') return ++at_ > 0;
      if (static_cast<unsigned char>(c) < 0x20) return Fail("in string literal");
      if (c == '\\' && !Escape()) return false;
    }
    return Fail("");
  }

  bool Escape() {
    ++at_;
    if (Peek() != 'u') {
      if (at_ < text_.size() && std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos)
        return true;
      return Fail("in string escape code");
    }
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (at_ >= text_.size() ||
          std::string_view("0123456789abcdefABCDEF").find(text_[at_]) == std::string_view::npos)
        return Fail("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool Word(std::string_view word) {
    for (char expected : word) {
      if (Peek() != expected || at_ >= text_.size())
        return Fail(StrCat("in literal ", word, " (expecting '", expected, "')"));
      ++at_;
    }
    return true;
  }

  bool Number() {
    const bool negative = Peek() == '-';
    if (negative) ++at_;
    if (Peek() == '0') {
      ++at_;
    } else if (!Digits()) {
      return Fail(negative ? "in numeric literal" : "looking for beginning of value");
    }
    if (Peek() == '.') {
      ++at_;
      if (!Digits()) return Fail("after decimal point in numeric literal");
    }
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (Peek() == '+' || Peek() == '-') ++at_;
      if (!Digits()) return Fail("in exponent of numeric literal");
    }
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

absl::Status CheckGoJson(std::string_view text) { return Syntax(text).Check(); }

}  // namespace fairlead::injection
