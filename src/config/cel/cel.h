#ifndef FAIRLEAD_CONFIG_CEL_CEL_H_
#define FAIRLEAD_CONFIG_CEL_CEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/tree.h"

// The part of the Common Expression Language (https://github.com/google/cel-spec) that validation rules of
// CustomResourceDefinitions use: literals, lists and maps, fields, operators, the macros has, all, exists,
// exists_one, filter and map, strings' methods, durations and Kubernetes' URL functions. No types are checked
// beforehand: an operation on the wrong type is an error when it is met, which counts as a rule that is
// broken, and so does a rule that takes too many steps.
namespace fairlead::config {

struct CelValue {
  enum class Type : uint8_t { kError, kNull, kBool, kInt, kDouble, kString, kDuration, kUrl, kList, kMap };
  Type type = Type::kNull;
  bool truth = false;
  int64_t integer = 0;  // of an integer; a duration's nanoseconds
  double number = 0;
  std::string text;                // of a string or URL; an error's message
  Node node;                       // a list or map of the document
  std::vector<CelValue> elements;  // a list otherwise; keys and values of a map in turn

  static CelValue Error(std::string message);
  static CelValue Bool(bool truth);
  static CelValue Int(int64_t integer);
  static CelValue Double(double number);
  static CelValue String(std::string_view text);
  static CelValue Of(Node node);
  bool is_error() const { return type == Type::kError; }
  size_t size() const;  // of a list or map
};
bool operator==(const CelValue& a, const CelValue& b);

struct CelExpression {
  enum class Kind : uint8_t {
    kLiteral,   // value
    kVariable,  // name
    kSelect,    // arguments[0].name
    kHas,       // has(arguments[0].name)
    kIndex,     // arguments[0][arguments[1]]
    kList,
    kMap,  // keys and values in turn
    kAnd,
    kOr,
    kConditional,  // arguments[0] ? arguments[1] : arguments[2]
    kOperator,     // name: "+", "==", "!", "neg", "in", …
    kCall,         // name(arguments)
    kMethod,       // arguments[0].name(the others)
    kMacro,        // arguments[0].name(variable, arguments[1]…)
  };
  Kind kind = Kind::kLiteral;
  std::string name;
  std::string variable;
  CelValue value;
  std::vector<CelExpression> arguments;
};

struct CelParsed {
  std::unique_ptr<CelExpression> expression;  // null where the text is no expression
  std::string error;
};
CelParsed ParseCel(std::string_view text);

// How much may still be evaluated: one for each expression, each element of a list that is gone through and
// each 64 bytes of text that are compared or made. Rules for lists of lists cost the square of their size.
struct CelBudget {
  static constexpr size_t kSteps = 2'000'000;
  size_t steps = kSteps;
};

// The expression's value with `self` as given; an error where the budget is used up. Thread-safe.
CelValue EvaluateCel(const CelExpression& expression, Node self, CelBudget* budget);

// A function or a method, whose first argument is the receiver.
CelValue CallCel(std::string_view name, bool method, const std::vector<CelValue>& arguments);
// Operators of one and two operands, but for those that look at their second one in some cases only.
CelValue OperateCel(std::string_view name, std::span<const CelValue> operands);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CEL_CEL_H_
