#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/cel/cel.h"
#include "config/read/yaml.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: the first line is a rule of a schema, the rest the YAML document that it is about. A text is
// an expression or has an error, and an expression's value does not depend on when it is asked for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::fuzz::Require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(text.find('\n'), size);
  const auto parsed = fairlead::config::ParseCel(text.substr(0, end));
  Require((parsed.expression == nullptr) != parsed.error.empty(), "neither expression nor error, or both");
  const auto document = fairlead::config::ParseYamlDocument(text.substr(end));
  if (parsed.expression == nullptr) return 0;
  fairlead::config::CelBudget first, second;
  const auto value = EvaluateCel(*parsed.expression, document.tree.root(), &first);
  const auto again = EvaluateCel(*parsed.expression, document.tree.root(), &second);
  Require(value.type == again.type && value.size() == again.size(), "two values of one expression");
  return 0;
}
