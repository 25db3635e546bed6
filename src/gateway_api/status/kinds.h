#ifndef FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_

#include <vector>

#include "config/store.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "mesh/snapshot.h"

namespace fairlead::gateway_api {

// Parts of ComputeStatuses; see there.
struct StatusInputs {
  const Translation& translation;
  const config::ObjectStore& objects;
  const mesh::MeshSnapshot& snapshot;
};

void AddGatewayClassStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);
void AddGatewayStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);  // and of ListenerSets
void AddRouteStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);
void AddPoolStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);  // of InferencePools
void AddPolicyStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);
void AddIngressStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);
// Addresses for the hosts of ServiceEntries that have none: of the features' ranges (240.240.0.0/16 and
// 2001:2::/48), to the oldest first. Those that a status names already stay.
void AddServiceEntryStatuses(const StatusInputs& inputs, std::vector<StatusOf>* out);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_KINDS_H_
