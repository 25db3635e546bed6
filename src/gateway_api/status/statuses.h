#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUSES_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUSES_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "config/object.h"
#include "config/store.h"
#include "gateway_api/names.h"
#include "gateway_api/revision.h"
#include "gateway_api/translation.h"
#include "mesh/index/snapshot.h"

namespace fairlead::gateway_api {

class StatusView;  // status_view.h

// The status of an object as it is to be written. Conditions that are new or changed have no
// lastTransitionTime: nothing here has a clock.
struct StatusOf {
  config::ConfigPtr object;
  nlohmann::ordered_json status;
};

// What Istio's control plane says of GatewayClasses, Gateways, ListenerSets, routes, InferencePools,
// BackendTLSPolicies, Ingresses and ServiceEntries, by kind, namespace and name; objects of which it says
// nothing are left out. A pure function: `translation` is that of `objects`, and `snapshot` the mesh that
// they make. `own`: of which objects at all.
std::vector<StatusOf> ComputeStatuses(const Translation& translation, const config::ObjectStore& objects,
                                      const mesh::MeshSnapshot& snapshot,
                                      const OwnRevisions& own = OwnRevisionsOf(kRevision));

// Whether objects of the kind have statuses here at all.
bool HasStatus(config::Kind kind);
// The status of one object among the statuses of a mesh, as ComputeStatuses has it; null or empty: nothing is
// said.
nlohmann::ordered_json StatusOfObject(const config::ConfigObject& object, StatusView& view);

// As `kubectl get -o json` lists objects, cut down to who they are and their status: kind, apiVersion,
// namespace, name, generation, status.
nlohmann::ordered_json ToJson(const std::vector<StatusOf>& statuses);
nlohmann::ordered_json ToJson(const StatusOf& status);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUSES_H_
