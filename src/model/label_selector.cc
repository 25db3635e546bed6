#include "model/label_selector.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::model {

absl::StatusOr<LabelSelector> LabelSelector::Parse(const istio::mesh::v1alpha1::LabelSelector& proto) {
  LabelSelector selector;
  for (const auto& [key, value] : proto.matchlabels()) {
    selector.requirements_.push_back({key, Operator::kIn, {value}});
  }
  for (const auto& expression : proto.matchexpressions()) {
    Requirement requirement{expression.key(), Operator::kExists, {}};
    requirement.values.assign(expression.values().begin(), expression.values().end());
    const std::string& name = expression.operator_();
    bool takes_values = true;
    if (name == "In") {
      requirement.op = Operator::kIn;
    } else if (name == "NotIn") {
      requirement.op = Operator::kNotIn;
    } else if (name == "Exists" || name == "DoesNotExist") {
      takes_values = false;
      requirement.op = name == "Exists" ? Operator::kExists : Operator::kDoesNotExist;
    } else {
      return absl::InvalidArgumentError(StrCat("unknown selector operator \"", name, "\""));
    }
    if (takes_values == requirement.values.empty()) {
      return absl::InvalidArgumentError(
          StrCat("selector operator ", name, takes_values ? " needs values" : " takes no values"));
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  // matchLabels come out of a hash map.
  std::sort(selector.requirements_.begin(), selector.requirements_.end(),
            [](const Requirement& a, const Requirement& b) {
              return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
            });
  return selector;
}

bool LabelSelector::Requirement::Holds(const LabelMap& labels) const {
  const auto it = labels.find(key);
  const bool listed =
      it != labels.end() && std::find(values.begin(), values.end(), it->second) != values.end();
  switch (op) {
    case Operator::kIn:
      return listed;
    case Operator::kNotIn:
      return !listed;
    case Operator::kExists:
      return it != labels.end();
    case Operator::kDoesNotExist:
      return it == labels.end();
  }
  return false;
}

bool LabelSelector::Matches(const LabelMap& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return requirement.Holds(labels); });
}

}  // namespace fairlead::model
