#ifndef FAIRLEAD_CONFIG_READ_YAML_SCALAR_H_
#define FAIRLEAD_CONFIG_READ_YAML_SCALAR_H_

#include <string>
#include <string_view>

#include "config/tree.h"

namespace fairlead::config {

// What a plain (unquoted) YAML scalar means, by YAML 1.1 as sigs.k8s.io/yaml reads it, which kubectl and the
// API server use: `yes`, `on` and `y` are booleans, 0777 and 0x1ff are integers, 1_000 is 1000, dates are
// strings.
struct ScalarMeaning {
  NodeType type;
  std::string_view text;  // as Node::text() promises; in the scalar's text or in `storage`
};

// `storage` must outlive the result.
ScalarMeaning ResolvePlainScalar(std::string_view text, std::string& storage);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_YAML_SCALAR_H_
