#ifndef FAIRLEAD_MODEL_LABEL_SELECTOR_H_
#define FAIRLEAD_MODEL_LABEL_SELECTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/labels.h"

namespace istio::mesh::v1alpha1 {
class LabelSelector;
}

namespace fairlead::model {

// A Kubernetes label selector with expressions, ready to match. A plain value. Source: Kubernetes API
// reference, meta/v1 LabelSelector: all requirements must hold; without any, everything matches.
class LabelSelector {
 public:
  // InvalidArgument where an operator is unknown, or lacks values or has them where it must not.
  static absl::StatusOr<LabelSelector> Parse(const istio::mesh::v1alpha1::LabelSelector& proto);

  bool Matches(const LabelMap& labels) const;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
    bool Holds(const LabelMap& labels) const;
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_LABEL_SELECTOR_H_
