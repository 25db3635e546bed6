#ifndef FAIRLEAD_GATEWAY_API_STATUS_PROXY_VERDICTS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_PROXY_VERDICTS_H_

#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/store.h"
#include "gateway_api/status/statuses.h"

namespace fairlead::gateway_api {

// A condition that a status gets while a diagnostic with the code is about its object.
struct VerdictCondition {
  std::string_view code, type, reason;
};

// Takes from a status what AddProxyVerdicts put into it once: conditions of these types.
void RemoveProxyVerdicts(const std::vector<VerdictCondition>& conditions, nlohmann::ordered_json* status);

// Adds to the statuses what proxies make of the objects: a condition with status False for each diagnostic
// with one of the codes, in every list of conditions that the status has, else in one of its own. Objects
// that have no status otherwise, Istio's, get one for as long as there is a diagnostic. Ingresses have no
// conditions, and get none.
void AddProxyVerdicts(const std::vector<config::Diagnostic>& diagnostics,
                      const std::vector<VerdictCondition>& conditions, const config::ObjectStore& objects,
                      std::vector<StatusOf>* statuses);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_PROXY_VERDICTS_H_
