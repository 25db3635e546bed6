#ifndef FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_

#include <map>
#include <nlohmann/json.hpp>

#include "config/object.h"
#include "config/store.h"
#include "gateway_api/status/status_view.h"
#include "gateway_api/status/statuses.h"
#include "mesh/index/snapshot.h"

namespace fairlead::gateway_api {

// The status of an object of each kind; null or empty where nothing is said of it. See StatusOfObject.
nlohmann::ordered_json GatewayClassStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json GatewayStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json ListenerSetStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json RouteStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json PoolStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json PolicyStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json IngressStatus(const config::ConfigObject& object, StatusView& view);
nlohmann::ordered_json ServiceEntryStatus(const config::ConfigObject& object, StatusView& view);

// Addresses for the hosts of ServiceEntries that have none: of the features' ranges (240.240.0.0/16 and
// 2001:2::/48), to the oldest first. Those that a status names already stay. By ServiceEntry the list
// status.addresses; those without any are left out.
std::map<config::ObjectKey, nlohmann::ordered_json> AllocateAddresses(const config::ObjectStore& objects,
                                                                      const model::Features& features);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_
