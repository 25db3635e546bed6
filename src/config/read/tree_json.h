#ifndef FAIRLEAD_CONFIG_READ_TREE_JSON_H_
#define FAIRLEAD_CONFIG_READ_TREE_JSON_H_

#include <nlohmann/json.hpp>

#include "config/tree.h"

namespace fairlead::config {

// A document as JSON, mappings in the order of the text; absent is null. A number that neither 64 bits nor a
// double can hold (1e999, YAML's .inf and .nan) becomes its text. Pure.
nlohmann::ordered_json ToJson(Node node);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_TREE_JSON_H_
