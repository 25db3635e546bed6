#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/cel/cel.h"
#include "config/cel/literals.h"

namespace fairlead::config {
namespace {

using Kind = CelExpression::Kind;

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// What names may not be, though fields may.
constexpr std::string_view kReserved[] = {"as",        "break",  "const",  "continue", "else", "for",
                                          "function",  "if",     "import", "let",      "loop", "package",
                                          "namespace", "return", "var",    "void",     "while"};
bool IsKeyword(std::string_view name) {
  return name == "true" || name == "false" || name == "null" || name == "in";
}

// A method of this name with so many arguments is a macro, whose first argument is a variable.
bool IsMacro(std::string_view name, size_t arguments) {
  if (name == "map") return arguments == 2 || arguments == 3;
  return arguments == 2 && (name == "all" || name == "exists" || name == "exists_one" || name == "filter");
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
  static constexpr int kMostOperations = 2000;  // each may be a level of the tree

  CelExpression Fail(std::string_view what) {
    if (error_.empty()) error_ = StrCat(what, " at offset ", all_.size() - rest_.size());
    rest_ = "";
    return {};
  }

  void SkipSpace() {
    for (;;) {
      while (!rest_.empty() && std::string_view(" \t\r\n\f").find(rest_[0]) != std::string_view::npos)
        rest_.remove_prefix(1);
      if (!rest_.starts_with("//")) return;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
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
    made.kind = name == "&&"   ? Kind::kAnd
                : name == "||" ? Kind::kOr
                : name == "?:" ? Kind::kConditional
                               : Kind::kOperator;
    made.name = name;
    made.arguments = std::move(operands);
    return made;
  }
  CelExpression Binary(std::string_view name, CelExpression left, CelExpression right) {
    if (++operations_ > kMostOperations) return Fail("too large");
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

  // Any number of the same operator; a single "-" before a digit belongs to the number.
  CelExpression Unary() {
    SkipSpace();
    const char sign = rest_.starts_with('!') && !rest_.starts_with("!=") ? '!' : '-';
    int count = 0;
    while (rest_.starts_with(sign) && (count > 0 || !BeginsCelNumber(rest_))) {
      if (++operations_ > kMostOperations) return Fail("too large");
      rest_.remove_prefix(1);
      SkipSpace();
      ++count;
    }
    CelExpression made = Member();
    for (; count > 0; --count) {
      std::vector<CelExpression> operands;
      operands.push_back(std::move(made));
      made = Operator(sign == '!' ? "!" : "neg", std::move(operands));
    }
    return made;
  }

  CelExpression Member() {
    SkipSpace();
    const bool in_parentheses = rest_.starts_with("(");
    CelExpression object = Primary();
    for (;;) {
      if (++operations_ > kMostOperations) return Fail("too large");
      if (Take(".")) {
        object = Selected(std::move(object), FieldName());
      } else if (Take("[")) {
        CelExpression made;
        made.kind = Kind::kIndex;
        made.arguments.push_back(std::move(object));
        made.arguments.push_back(Conditional());
        if (!Take("]")) return Fail("expected \"]\"");
        object = std::move(made);
      } else if (!in_parentheses && IsQualifiedName(object) && Take("{")) {
        object = Message();
      } else {
        return object;
      }
    }
  }

  static bool IsQualifiedName(const CelExpression& e) {
    return e.kind == Kind::kVariable || (e.kind == Kind::kSelect && IsQualifiedName(e.arguments[0]));
  }

  // The fields of `Type{field: value}`. No value can be made of a type here: evaluated, it is an error.
  CelExpression Message() {
    CelExpression made;
    made.kind = Kind::kCall;
    made.name = "{}";
    Elements("}", [&] {
      FieldName();
      if (!Take(":")) Fail("expected \":\"");
      made.arguments.push_back(Conditional());
    });
    return made;
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
    Arguments(")", &made.arguments);
    if (!IsMacro(made.name, made.arguments.size() - 1)) return made;
    made.kind = Kind::kMacro;
    if (made.arguments[1].kind != Kind::kVariable) return Fail("expected a variable's name");
    made.variable = std::move(made.arguments[1].name);
    made.arguments.erase(made.arguments.begin() + 1);
    return made;
  }

  // Expressions up to and with the closing token.
  void Arguments(std::string_view end, std::vector<CelExpression>* arguments) {
    if (Take(end)) return;
    do {
      arguments->push_back(Conditional());
    } while (Take(","));
    if (!Take(end)) Fail("expected the end of the list");
  }

  // The same for what lies in brackets and braces, where a comma may come last, or alone.
  template <typename TakeElement>
  void Elements(std::string_view end, TakeElement&& take_element) {
    if (SkipSpace(); !rest_.starts_with(",") && !rest_.starts_with(end)) {
      do {
        take_element();
        SkipSpace();
      } while (rest_.starts_with(",") && !EndsBehindComma(end));
    }
    Take(",");
    if (!Take(end)) Fail("expected the end of the list");
  }

  // Takes the comma where something else is behind it.
  bool EndsBehindComma(std::string_view end) {
    const std::string_view before = rest_;
    Take(",");
    SkipSpace();
    if (!rest_.starts_with(end)) return false;
    rest_ = before;
    return true;
  }

  // Behind a point; in backquotes it may be any label or header.
  std::string FieldName() {
    if (!Take("`")) {
      std::string name = Name();
      if (IsKeyword(name)) Fail("expected a field's name");
      return name;
    }
    constexpr std::string_view kExtra = "_.-/ ";
    const std::string_view name = rest_.substr(0, rest_.find('`'));
    const bool good = std::all_of(name.begin(), name.end(), [&](char c) {
      return IsNameStart(c) || IsDigit(c) || kExtra.find(c) != std::string_view::npos;
    });
    rest_.remove_prefix(name.size());
    if (!good || name.empty() || !rest_.starts_with('`')) {
      Fail("expected a field's name");
      return "";
    }
    rest_.remove_prefix(1);
    return std::string(name);
  }

  std::string Name() {
    SkipSpace();
    size_t size = 0;
    while (size < rest_.size() && (IsNameStart(rest_[size]) || (size > 0 && IsDigit(rest_[size])))) ++size;
    if (size == 0) Fail("expected a name");
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }

  CelExpression Primary() {
    SkipSpace();
    if (rest_.empty()) return Fail("unexpected end");
    if (BeginsCelText(rest_)) return Literal(TakeCelText, "not a text");
    if (BeginsCelNumber(rest_)) return Literal(TakeCelNumber, "not a number");
    if (Take("(")) {
      CelExpression inner = Conditional();
      if (!Take(")")) return Fail("expected \")\"");
      return inner;
    }
    CelExpression made;
    if (Take("[")) {
      made.kind = Kind::kList;
      Elements("]", [&] { made.arguments.push_back(Conditional()); });
      return made;
    }
    if (Take("{")) return Map();
    Take(".");  // names are looked up from the outermost scope, the only one there is
    return NameOrCall();
  }

  CelExpression Map() {
    CelExpression made;
    made.kind = Kind::kMap;
    Elements("}", [&] {
      made.arguments.push_back(Conditional());
      if (!Take(":")) Fail("expected \":\"");
      made.arguments.push_back(Conditional());
    });
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
    if (made.name == "in" ||
        std::find(std::begin(kReserved), std::end(kReserved), made.name) != std::end(kReserved))
      return Fail("a reserved word");
    made.kind = Kind::kVariable;
    if (!Take("(")) return made;
    made.kind = Kind::kCall;
    Arguments(")", &made.arguments);
    if (made.name != "has" || made.arguments.size() != 1) return made;
    if (made.arguments[0].kind != Kind::kSelect) return Fail("has() wants a field");
    CelExpression has = std::move(made.arguments[0]);
    has.kind = Kind::kHas;
    return has;
  }

  CelExpression Literal(std::optional<CelValue> (*take)(std::string_view*), std::string_view what) {
    CelExpression made;
    std::string_view rest = rest_;
    std::optional<CelValue> value = take(&rest);
    if (!value) return Fail(what);
    rest_ = rest;
    made.value = std::move(*value);
    return made;
  }

  std::string_view rest_, all_;
  std::string error_;
  int depth_ = 0, operations_ = 0;
};

}  // namespace

CelParsed ParseCel(std::string_view text) { return Parser(text).Parse(); }

}  // namespace fairlead::config
