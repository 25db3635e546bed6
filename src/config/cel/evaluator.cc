#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "config/cel/cel.h"

namespace fairlead::config {
namespace {

using Kind = CelExpression::Kind;
using Type = CelValue::Type;

// The elements of a list, the keys of a map.
std::vector<CelValue> RangeOf(const CelValue& value) {
  std::vector<CelValue> range;
  if (value.node) {
    for (Node element : value.node.elements()) range.push_back(CelValue::Of(element));
    for (const Node::Entry& entry : value.node.entries()) {
      if (!entry.value.IsNull()) range.push_back(CelValue::String(entry.key));
    }
    return range;
  }
  const size_t step = value.type == Type::kMap ? 2 : 1;
  for (size_t i = 0; i < value.elements.size(); i += step) range.push_back(value.elements[i]);
  return range;
}

CelValue Lookup(const CelValue& map, const CelValue& key) {
  if (map.node) {
    const Node found = key.type == Type::kString ? map.node.Find(key.text) : Node();
    if (!found.IsNull()) return CelValue::Of(found);
  }
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i] == key) return map.elements[i + 1];
  }
  return CelValue::Error(StrCat("no such key: ", key.text));
}

class Evaluator {
 public:
  Evaluator(Node self, CelBudget* budget) : self_(CelValue::Of(self)), budget_(*budget) {}

  CelValue Evaluate(const CelExpression& e) {
    if (!Spend(1)) return CelValue::Error(kTooManySteps);
    switch (e.kind) {
      case Kind::kLiteral:
        return e.value;
      case Kind::kVariable:
        return Variable(e.name);
      case Kind::kSelect:
      case Kind::kHas:
        return Select(e);
      case Kind::kIndex:
        return Index(Evaluate(e.arguments[0]), Evaluate(e.arguments[1]));
      case Kind::kList:
        return Collect(e, Type::kList);
      case Kind::kMap:
        return Collect(e, Type::kMap);
      case Kind::kAnd:
      case Kind::kOr:
        return Logic(e);
      case Kind::kConditional:
        return Choose(e);
      case Kind::kOperator:
        return Operate(e);
      case Kind::kCall:
      case Kind::kMethod:
        return Call(e);
      case Kind::kMacro:
        return Macro(e);
    }
    return CelValue::Error("unknown expression");
  }

 private:
  static constexpr char kTooManySteps[] = "the rule takes too many steps";
  static constexpr size_t kBytesAStep = 64;

  bool Spend(size_t steps) {
    const bool enough = steps <= budget_.steps;
    budget_.steps -= std::min(steps, budget_.steps);
    return enough;
  }
  // For looking at all of a value.
  bool SpendOn(const CelValue& value) {
    return Spend(value.text.size() / kBytesAStep + std::max(value.elements.size(), value.size()));
  }

  CelValue Variable(std::string_view name) {
    for (auto it = variables_.rbegin(); it != variables_.rend(); ++it) {
      if (it->first != name) continue;
      return Spend(it->second.elements.size()) ? it->second : CelValue::Error(kTooManySteps);
    }
    return name == "self" ? self_ : CelValue::Error(StrCat("unknown name ", name));
  }

  CelValue Select(const CelExpression& e) {
    CelValue object = Evaluate(e.arguments[0]);
    if (object.is_error()) return object;
    if (object.type != Type::kMap)
      return CelValue::Error(StrCat("no field ", e.name, " in what is no object"));
    if (e.kind == Kind::kHas && object.node) return CelValue::Bool(!object.node.Find(e.name).IsNull());
    CelValue found = Lookup(object, CelValue::String(e.name));
    return e.kind == Kind::kHas ? CelValue::Bool(!found.is_error()) : found;
  }

  CelValue Index(const CelValue& object, const CelValue& key) {
    if (object.is_error()) return object;
    if (key.is_error()) return key;
    if (!SpendOn(object)) return CelValue::Error(kTooManySteps);
    if (object.type == Type::kMap) return Lookup(object, key);
    if (object.type != Type::kList || key.type != Type::kInt)
      return CelValue::Error("no such overload: index");
    const std::vector<CelValue> elements = RangeOf(object);
    if (key.integer < 0 || static_cast<size_t>(key.integer) >= elements.size())
      return CelValue::Error("index out of bounds");
    return elements[static_cast<size_t>(key.integer)];
  }

  CelValue Collect(const CelExpression& e, Type type) {
    CelValue made;
    made.type = type;
    for (const CelExpression& argument : e.arguments) {
      made.elements.push_back(Evaluate(argument));
      if (made.elements.back().is_error()) return made.elements.back();
    }
    return made;
  }

  CelValue Choose(const CelExpression& e) {
    CelValue condition = Evaluate(e.arguments[0]);
    if (condition.is_error()) return condition;
    if (condition.type != Type::kBool) return CelValue::Error("the condition is no boolean");
    return Evaluate(e.arguments[condition.truth ? 1 : 2]);
  }

  CelValue Operate(const CelExpression& e) {
    CelValue operands[2];
    const size_t count = e.arguments.size();
    for (size_t i = 0; i < count; ++i) {
      operands[i] = Evaluate(e.arguments[i]);
      if (operands[i].is_error()) return operands[i];
      if (!SpendOn(operands[i])) return CelValue::Error(kTooManySteps);
    }
    if (e.name == "in") return In(operands[0], operands[1]);
    return OperateCel(e.name, std::span(operands, count));
  }

  // Either side decides alone where it can, even if the other one is an error.
  CelValue Logic(const CelExpression& e) {
    const bool decides = e.kind == Kind::kOr;
    CelValue left = Evaluate(e.arguments[0]);
    if (left.type == Type::kBool && left.truth == decides) return left;
    CelValue right = Evaluate(e.arguments[1]);
    if (right.type == Type::kBool && right.truth == decides) return right;
    if (left.is_error()) return left;
    if (right.is_error()) return right;
    if (left.type != Type::kBool || right.type != Type::kBool)
      return CelValue::Error(StrCat("no such overload: ", e.name));
    return CelValue::Bool(!decides);
  }

  static CelValue In(const CelValue& value, const CelValue& among) {
    if (among.type != Type::kList && among.type != Type::kMap) return CelValue::Error("no such overload: in");
    for (const CelValue& element : RangeOf(among)) {
      if (element == value) return CelValue::Bool(true);
    }
    return CelValue::Bool(false);
  }

  CelValue Call(const CelExpression& e) {
    std::vector<CelValue> arguments;
    for (const CelExpression& argument : e.arguments) {
      arguments.push_back(Evaluate(argument));
      if (arguments.back().is_error()) return arguments.back();
      if (!SpendOn(arguments.back())) return CelValue::Error(kTooManySteps);
    }
    return CallCel(e.name, e.kind == Kind::kMethod, arguments);
  }

  CelValue Macro(const CelExpression& e) {
    CelValue range = Evaluate(e.arguments[0]);
    if (range.is_error()) return range;
    if (range.type != Type::kList && range.type != Type::kMap)
      return CelValue::Error(StrCat("no such overload: ", e.name));
    if (!SpendOn(range)) return CelValue::Error(kTooManySteps);
    if (e.arguments.size() != 2) return CelValue::Error(StrCat(e.name, " wants two arguments"));
    std::vector<CelValue> elements = RangeOf(range);
    if (e.name == "filter" || e.name == "map") return Transform(e, elements);
    size_t hits = 0;
    CelValue error;
    for (CelValue& element : elements) {
      CelValue result = With(e, std::move(element));
      if (result.type == Type::kBool) {
        hits += result.truth;
        if (e.name == "all" && !result.truth) return result;
        if (e.name == "exists" && result.truth) return result;
      } else if (!error.is_error()) {
        error = result.is_error() ? std::move(result) : CelValue::Error("the macro wants a boolean");
      }
    }
    if (error.is_error()) return error;
    return CelValue::Bool(e.name == "all" || (e.name == "exists_one" && hits == 1));
  }

  CelValue Transform(const CelExpression& e, const std::vector<CelValue>& elements) {
    CelValue made;
    made.type = Type::kList;
    for (const CelValue& element : elements) {
      CelValue result = With(e, element);
      if (result.is_error()) return result;
      if (e.name == "map") {
        made.elements.push_back(std::move(result));
      } else if (result.truth) {
        made.elements.push_back(element);
      }
    }
    return made;
  }

  CelValue With(const CelExpression& macro, CelValue element) {
    variables_.emplace_back(macro.variable, std::move(element));
    CelValue result = Evaluate(macro.arguments[1]);
    variables_.pop_back();
    return result;
  }

  const CelValue self_;
  CelBudget& budget_;
  std::vector<std::pair<std::string_view, CelValue>> variables_;
};

}  // namespace

CelValue EvaluateCel(const CelExpression& expression, Node self, CelBudget* budget) {
  return Evaluator(self, budget).Evaluate(expression);
}

}  // namespace fairlead::config
