#include <charconv>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/check/cel.h"

namespace fairlead::config::check {
namespace {

using Kind = CelExpression::Kind;

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsMacro(std::string_view name) {
  return name == "all" || name == "exists" || name == "exists_one" || name == "filter" || name == "map";
}

// Recursive descent, a function for each level of precedence. After a mistake every function gives up.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text), all_(text) {}

  CelParsed Parse() {
    CelExpression expression = Conditional();
    SkipSpace();
    if (error_.empty() && !rest_.empty()) Fail("expected the end");
    if (!error_.empty()) return {nullptr, error_};
    return {std::make_unique<CelExpression>(std::move(expression)), ""};
  }

 private:
  static constexpr int kDeepest = 100;

  CelExpression Fail(std::string_view what) {
    if (error_.empty()) error_ = StrCat(what, " at offset ", all_.size() - rest_.size());
    rest_ = "";
    return {};
  }

  void SkipSpace() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos)
      rest_.remove_prefix(1);
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  // A token that is not the beginning of a name.
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && (IsNameStart(rest_[word.size()]) || IsDigit(rest_[word.size()])))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  static CelExpression Operator(std::string_view name, std::vector<CelExpression> operands) {
    CelExpression made;
    made.kind = Kind::kOperator;
    made.name = name;
    made.arguments = std::move(operands);
    return made;
  }
  static CelExpression Binary(std::string_view name, CelExpression left, CelExpression right) {
    std::vector<CelExpression> operands;
    operands.push_back(std::move(left));
    operands.push_back(std::move(right));
    return Operator(name, std::move(operands));
  }

  CelExpression Conditional() {
    if (++depth_ > kDeepest) return Fail("nested too deeply");
    CelExpression condition = Or();
    if (Take("?")) {
      std::vector<CelExpression> operands;
      operands.push_back(std::move(condition));
      operands.push_back(Or());
      if (!Take(":")) return Fail("expected \":\"");
      operands.push_back(Conditional());
      condition = Operator("?:", std::move(operands));
    }
    --depth_;
    return condition;
  }

  CelExpression Or() {
    CelExpression left = And();
    while (Take("||")) left = Binary("||", std::move(left), And());
    return left;
  }

  CelExpression And() {
    CelExpression left = Relation();
    while (Take("&&")) left = Binary("&&", std::move(left), Relation());
    return left;
  }

  std::optional<std::string_view> TakeRelation() {
    for (std::string_view token : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (Take(token)) return token;
    }
    if (TakeWord("in")) return "in";
    return std::nullopt;
  }

  CelExpression Relation() {
    CelExpression left = Sum();
    while (const auto token = TakeRelation()) left = Binary(*token, std::move(left), Sum());
    return left;
  }

  CelExpression Sum() {
    CelExpression left = Product();
    for (;;) {
      if (Take("+")) {
        left = Binary("+", std::move(left), Product());
      } else if (Take("-")) {
        left = Binary("-", std::move(left), Product());
      } else {
        return left;
      }
    }
  }

  CelExpression Product() {
    CelExpression left = Unary();
    for (;;) {
      if (Take("*")) {
        left = Binary("*", std::move(left), Unary());
      } else if (Take("/")) {
        left = Binary("/", std::move(left), Unary());
      } else if (Take("%")) {
        left = Binary("%", std::move(left), Unary());
      } else {
        return left;
      }
    }
  }

  CelExpression Unary() {
    SkipSpace();
    const bool no = rest_.starts_with("!") && !rest_.starts_with("!=");
    if (!no && !rest_.starts_with("-")) return Member();
    if (++depth_ > kDeepest) return Fail("nested too deeply");
    rest_.remove_prefix(1);
    std::vector<CelExpression> operands;
    operands.push_back(Unary());
    --depth_;
    return Operator(no ? "!" : "neg", std::move(operands));
  }

  CelExpression Member() {
    CelExpression object = Primary();
    for (;;) {
      if (Take(".")) {
        object = Selected(std::move(object), Name());
      } else if (Take("[")) {
        CelExpression made;
        made.kind = Kind::kIndex;
        made.arguments.push_back(std::move(object));
        made.arguments.push_back(Conditional());
        if (!Take("]")) return Fail("expected \"]\"");
        object = std::move(made);
      } else {
        return object;
      }
    }
  }

  // The rest of `object.name`, a method's or macro's arguments included.
  CelExpression Selected(CelExpression object, std::string name) {
    CelExpression made;
    made.name = std::move(name);
    made.arguments.push_back(std::move(object));
    if (!Take("(")) {
      made.kind = Kind::kSelect;
      return made;
    }
    made.kind = Kind::kMethod;
    if (IsMacro(made.name)) {
      made.kind = Kind::kMacro;
      made.variable = Name();
      if (!Take(",")) return Fail("expected \",\"");
    }
    Arguments(")", &made.arguments);
    return made;
  }

  // Expressions up to and with the closing token.
  void Arguments(std::string_view end, std::vector<CelExpression>* arguments) {
    if (Take(end)) return;
    do {
      if (SkipSpace(); rest_.starts_with(end)) break;  // a comma may come last
      arguments->push_back(Conditional());
    } while (Take(","));
    if (!Take(end)) Fail("expected the end of the list");
  }

  std::string Name() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && (IsNameStart(rest_[size]) || (size > 0 && IsDigit(rest_[size])))) ++size;
    if (size == 0) Fail("expected a name");
    const std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  CelExpression Primary() {
    SkipSpace();
    if (rest_.empty()) return Fail("unexpected end");
    const char c = rest_[0];
    if (c == '"' || c == '\'') return Text(c);
    if (IsDigit(c)) return Number();
    if (Take("(")) {
      CelExpression inner = Conditional();
      if (!Take(")")) return Fail("expected \")\"");
      return inner;
    }
    CelExpression made;
    if (Take("[")) {
      made.kind = Kind::kList;
      Arguments("]", &made.arguments);
      return made;
    }
    if (Take("{")) return Map();
    return NameOrCall();
  }

  CelExpression Map() {
    CelExpression made;
    made.kind = Kind::kMap;
    if (Take("}")) return made;
    do {
      made.arguments.push_back(Conditional());
      if (!Take(":")) return Fail("expected \":\"");
      made.arguments.push_back(Conditional());
    } while (Take(","));
    if (!Take("}")) return Fail("expected \"}\"");
    return made;
  }

  CelExpression NameOrCall() {
    CelExpression made;
    made.name = Name();
    if (made.name == "true" || made.name == "false") {
      made.value = CelValue::Bool(made.name == "true");
      return made;
    }
    if (made.name == "null") return made;
    made.kind = Kind::kVariable;
    if (!Take("(")) return made;
    made.kind = Kind::kCall;
    Arguments(")", &made.arguments);
    if (made.name != "has") return made;
    if (made.arguments.size() != 1 || made.arguments[0].kind != Kind::kSelect)
      return Fail("has() wants a field");
    CelExpression has = std::move(made.arguments[0]);
    has.kind = Kind::kHas;
    return has;
  }

  CelExpression Number() {
    size_t size = 0;
    bool whole = true;
    while (size < rest_.size() && (IsDigit(rest_[size]) || rest_[size] == '.' || rest_[size] == 'e')) {
      whole = whole && IsDigit(rest_[size]);
      ++size;
    }
    CelExpression made;
    const char* end = rest_.data() + size;
    int64_t integer = 0;
    double number = 0;
    const auto [stop, code] =
        whole ? std::from_chars(rest_.data(), end, integer) : std::from_chars(rest_.data(), end, number);
    if (code != std::errc() || stop != end) return Fail("not a number");
    made.value = whole ? CelValue::Int(integer) : CelValue::Double(number);
    rest_.remove_prefix(size);
    return made;
  }

  CelExpression Text(char quote) {
    std::string text;
    size_t at = 1;
    for (; at < rest_.size() && rest_[at] != quote; ++at) {
      if (rest_[at] != '\\') {
        text += rest_[at];
        continue;
      }
      if (++at == rest_.size()) break;
      constexpr std::string_view kNames = "nrtab\\\"'`?", kMeanings = "\n\r\t\a\b\\\"'`?";
      const size_t which = kNames.find(rest_[at]);
      if (which == std::string_view::npos) return Fail("unknown escape");
      text += kMeanings[which];
    }
    if (at >= rest_.size()) return Fail("text without an end");
    rest_.remove_prefix(at + 1);
    CelExpression made;
    made.value = CelValue::String(text);
    return made;
  }

  std::string_view rest_, all_;
  std::string error_;
  int depth_ = 0;
};

}  // namespace

CelParsed ParseCel(std::string_view text) { return Parser(text).Parse(); }

}  // namespace fairlead::config::check
