#ifndef FAIRLEAD_CONTROLLERS_STATUS_PATCH_H_
#define FAIRLEAD_CONTROLLERS_STATUS_PATCH_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/object.h"
#include "gateway_api/status/proxy_verdicts.h"
#include "kube/api_request.h"

// What is sent to an API server so that an object gets a status. Pure functions.
namespace fairlead::controllers {

using OrderedJson = nlohmann::ordered_json;

// Of kinds that are kept as documents all of the status is known and written; of others only what is wanted,
// and the rest stays.
bool HasWholeStatus(const config::ConfigObject& object);
// The status that the object had when it was read, as far as it is kept.
OrderedJson StatusOnServer(const config::ConfigObject& object);
// "/apis/gateway.networking.k8s.io/v1/namespaces/n/gateways/name/status", without the last part where
// `subresource` is "".
std::string PathOf(const config::ConfigObject& object, std::string_view subresource = "status");
// Whether values are the same but for the order of members.
bool SameJson(const OrderedJson& a, const OrderedJson& b);

// The status with times for conditions that are new: `before` is what the server has, `now` a time of RFC
// 3339.
OrderedJson WithTimes(OrderedJson status, const OrderedJson& before, const std::string& now);
// The same of conditions of an object whose status is not kept: `ours` are their types, those of others
// stay.
OrderedJson MergedWith(const OrderedJson& before, const OrderedJson& wanted,
                       const std::vector<gateway_api::VerdictCondition>& ours, const std::string& now);

// Writes it, if the object is still of that version.
kube::ApiRequest StatusRequest(const config::ConfigObject& object, const std::string& version,
                               const OrderedJson& status);

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_STATUS_PATCH_H_
