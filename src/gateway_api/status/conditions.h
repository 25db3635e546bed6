#ifndef FAIRLEAD_GATEWAY_API_STATUS_CONDITIONS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_CONDITIONS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "config/tree.h"
#include "gateway_api/condition.h"

namespace fairlead::gateway_api {

// Conditions as they are to be written: those of `existing` (a list, or absent) at their places, of other
// types too, each of ours in place of the one of its type, new ones behind them by their types. One whose
// status, message and generation are as they were stays as it was. Source: Istio's kstatus.
nlohmann::ordered_json MergedConditions(config::Node existing, int64_t generation,
                                        std::vector<DraftCondition> drafts);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_CONDITIONS_H_
