#ifndef FAIRLEAD_MESH_INDEX_SNAPSHOT_H_
#define FAIRLEAD_MESH_INDEX_SNAPSHOT_H_

#include <cstdint>
#include <memory>

#include "base/unique_id.h"
#include "mesh/index/endpoint_index.h"
#include "mesh/index/external_target_index.h"
#include "mesh/index/network_index.h"
#include "mesh/index/object_index.h"
#include "mesh/index/peer_authentication.h"
#include "mesh/index/service_index.h"
#include "mesh/index/virtual_service_index.h"
#include "mesh/index/workload_index.h"
#include "mesh/index/written_objects.h"
#include "model/key_sets.h"
#include "model/secret_readers.h"
#include "model/settings.h"
#include "model/trust_bundle.h"

// The mesh at one moment: a bag of immutable indexes, published by the control loop and read by any thread
// without locks. Collect functions (gen/) read it; Build functions never see it. Indexes share what did not
// change with their predecessors, so that pointer equality means "unchanged".
namespace fairlead::mesh {

// DestinationRules by namespace and host (destination_rule_index.h); lookups go through SidecarScope.
class DestinationRuleIndex;

class PolicyIndex;    // policy_index.h
class SidecarScopes;  // sidecar_scopes.h
class GatewayScopes;  // gateway_scopes.h

struct MeshSnapshot {
  uint64_t id = NextUniqueId();  // unlike that of any other snapshot of the process
  uint64_t revision = 0;         // rises with every snapshot of the process; for logs
  model::SettingsPtr settings;
  std::shared_ptr<const ServiceIndex> services;
  std::shared_ptr<const EndpointIndex> endpoints;
  std::shared_ptr<const ExternalTargetIndex> external_targets;
  std::shared_ptr<const WorkloadIndex> workloads;
  std::shared_ptr<const NetworkIndex> networks;
  std::shared_ptr<const VirtualServiceIndex> virtual_services;
  std::shared_ptr<const DestinationRuleIndex> destination_rules;
  std::shared_ptr<const PolicyIndex> policies;  // what selects workloads, by kind and namespace
  std::shared_ptr<const PeerAuthenticationIndex> peer_authentications;  // made from `policies`
  std::shared_ptr<const ObjectIndex> objects;     // the policy kinds, gateways, Gateway API kinds, secrets
  std::shared_ptr<const WrittenObjects> written;  // for those who ask for objects themselves; null: none
  model::KeySetsPtr key_sets;                     // of RequestAuthentications, fetched
  model::TrustBundlePtr trust_bundle;             // that agents are told
  model::SecretReadersPtr secret_readers;         // by API servers
  // What was derived from this snapshot and others, each with its reads; shared by all that came of one mesh.
  std::shared_ptr<SidecarScopes> scopes;
  std::shared_ptr<GatewayScopes> gateway_scopes;
};
using SnapshotPtr = std::shared_ptr<const MeshSnapshot>;

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_SNAPSHOT_H_
