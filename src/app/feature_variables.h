#ifndef FAIRLEAD_APP_FEATURE_VARIABLES_H_
#define FAIRLEAD_APP_FEATURE_VARIABLES_H_

#include <span>
#include <string_view>

#include "app/environment.h"
#include "model/features.h"

namespace fairlead::app {

// A variable of istiod's environment that changes the resources of proxies. `set` reads its text into one
// feature; false where the text cannot be read.
struct FeatureVariable {
  EnvironmentVariable variable;
  bool (*set)(std::string_view text, model::Features* out);
  bool empty_counts = false;  // an empty text is a value, not the default
};

// Each has a case in tests/conformance/environment. Source: Istio, pilot/pkg/features.
std::span<const FeatureVariable> FeatureVariables();

// Whether `text` is a boolean as Go reads it; it is then `out`'s value.
bool ReadBool(std::string_view text, bool* out);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_FEATURE_VARIABLES_H_
