#ifndef FAIRLEAD_INJECTION_SELECTOR_H_
#define FAIRLEAD_INJECTION_SELECTOR_H_

#include <nlohmann/json.hpp>
#include <optional>

#include "base/labels.h"
#include "model/label_selector.h"

namespace fairlead::injection {

// A Kubernetes label selector out of JSON. An absent or empty one selects everything.
struct Selector {
  bool empty = true;
  model::LabelSelector selector;

  // Nothing where the selector cannot be read.
  static std::optional<Selector> Read(const nlohmann::json& json);
  bool Matches(const LabelMap& labels) const { return empty || selector.Matches(labels); }
};

// A map of texts, as labels and annotations are.
LabelMap ReadLabels(const nlohmann::json& json);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_SELECTOR_H_
