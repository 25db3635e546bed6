#ifndef FAIRLEAD_CONFIG_SCHEMA_API_SCHEMA_H_
#define FAIRLEAD_CONFIG_SCHEMA_API_SCHEMA_H_

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "config/cel/cel.h"
#include "config/kind.h"
#include "config/spot.h"

namespace fairlead::config {

// An OpenAPI schema of a CustomResourceDefinition, compiled: what an API server checks objects against. See
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions.
struct ApiSchema {
  struct Rule {
    CelParsed parsed;
    std::string text, message;
  };
  struct Bounds {
    std::optional<double> least, most;
  };

  std::string type;  // "" for any
  bool int_or_string = false, preserve_unknown = false, nullable = false;
  StringMap<std::unique_ptr<ApiSchema>> properties;
  std::unique_ptr<ApiSchema> additional, items, negated;
  std::vector<std::string> required, list_keys, known_values;
  std::vector<std::unique_ptr<ApiSchema>> one_of, any_of, all_of;
  std::unique_ptr<RE2> pattern;
  Bounds number, length, count, entries;
  std::vector<Rule> rules;
};

std::unique_ptr<ApiSchema> CompileApiSchema(Node schema);

// Of a kind's version, out of the CustomResourceDefinitions that are compiled in; null where there is none.
// Made when first asked for and kept as long as the process. Thread-safe.
const ApiSchema* ApiSchemaOf(const KindInfo& kind, std::string_view version);

// Reports all that an API server would refuse a value for, unknown fields included. The schema's rules are
// not asked about a value of the wrong shape (a wrong type, a field that lacks, too long or too many), which
// is not bounded. Returns whether the shape is right. REQUIRES: the spot has a budget for rules.
bool CheckBySchema(Node value, const ApiSchema& schema, const Spot& at);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_SCHEMA_API_SCHEMA_H_
