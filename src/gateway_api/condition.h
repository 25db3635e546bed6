#ifndef FAIRLEAD_GATEWAY_API_CONDITION_H_
#define FAIRLEAD_GATEWAY_API_CONDITION_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway_api/error.h"

namespace fairlead::gateway_api {

// One condition of a status before it meets those that are there (see status/conditions.h).
struct DraftCondition {
  std::string type;
  bool status = true;
  std::string reason;
  std::string message;
  friend bool operator==(const DraftCondition&, const DraftCondition&) = default;
};

// The conditions of one object or listener, one a type.
class DraftConditions {
 public:
  // How it is as long as nothing is wrong.
  DraftCondition& Set(std::string_view type, std::string_view reason, std::string_view message,
                      bool status = true) {
    DraftCondition& condition = Place(type);
    condition = {std::string(type), status, std::string(reason), std::string(message)};
    return condition;
  }
  // The condition is false for that reason. The last error counts.
  void Fail(std::string_view type, const ConfigError& error) {
    Set(type, error.reason, error.message, false);
  }
  void FailIf(std::string_view type, const MaybeError& error) {
    if (error) Fail(type, *error);
  }
  const std::vector<DraftCondition>& all() const { return all_; }

 private:
  DraftCondition& Place(std::string_view type) {
    for (DraftCondition& condition : all_) {
      if (condition.type == type) return condition;
    }
    return all_.emplace_back();
  }
  std::vector<DraftCondition> all_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONDITION_H_
