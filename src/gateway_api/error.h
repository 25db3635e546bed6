#ifndef FAIRLEAD_GATEWAY_API_ERROR_H_
#define FAIRLEAD_GATEWAY_API_ERROR_H_

#include <optional>
#include <string>

namespace fairlead::gateway_api {

// What is wrong with an object, as its status says it. `reason` is of the Gateway API or of Istio.
struct ConfigError {
  std::string reason;
  std::string message;
  friend bool operator==(const ConfigError&, const ConfigError&) = default;
};
using MaybeError = std::optional<ConfigError>;

// Both messages under the first one's reason.
inline MaybeError Joined(MaybeError a, const MaybeError& b) {
  if (!a || !b) return a ? a : b;
  a->message += "; " + b->message;
  return a;
}

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_ERROR_H_
