#ifndef FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_
#define FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "config/diagnostic.h"
#include "model/endpoint.h"
#include "model/service.h"
#include "model/workload.h"

namespace fairlead::model {

// A service's identity for endpoint lookups: (hostname, namespace).
using ServiceKey = std::pair<Interned, Interned>;

// A workload that is new (no before), gone (no after) or replaced.
struct WorkloadChange {
  std::shared_ptr<const WorkloadInstance> before, after;
};

// A service that is new (no before), gone (no after) or replaced.
struct ServiceChange {
  ServicePtr before, after;
};

// What an Apply changed in the RegistryOutput, so that whoever indexes it need not compare everything.
struct RegistryChanges {
  std::vector<ServiceChange> services;  // each service at most once
  bool external_targets = false;
  bool network_gateways = false;
  bool diagnostics = false;
  std::vector<WorkloadChange> workloads;  // each workload at most once
  std::vector<ServiceKey> endpoints;  // whose ServiceEndpoints are new, changed or gone; unique, in no order
};

// A port of a ServiceEntry's service that a workload serves at an address (Istio: ServiceTarget of that
// registry).
struct ExternalTarget {
  ServicePtr service;
  const ServicePort* port = nullptr;  // of `service`
  uint32_t target_port = 0;
  WorkloadPtr workload;
  friend bool operator==(const ExternalTarget&, const ExternalTarget&) = default;
};
using ExternalTargets = std::vector<ExternalTarget>;

// What the registries found out of a mesh's objects: plain values, pointers kept where nothing changed.
// Copies share what they have in common.
struct RegistryOutput {
  ShardedSet<ServicePtr> services;  // unique by (source, hostname, address)
  ShardedMap<ServiceKey, ServiceEndpointsPtr> endpoints;
  ShardedSet<std::shared_ptr<const WorkloadInstance>> workloads;
  // By address, which of the ServiceEntries' services are served there, as GetProxyServiceTargets of Istio's
  // registry finds them: in the order of the services' hosts. Kubernetes services are matched to pods by
  // their selectors.
  ShardedMap<Interned, std::shared_ptr<const ExternalTargets>> external_targets;
  std::vector<NetworkGateway> network_gateways;
  std::vector<config::Diagnostic> diagnostics;
  RegistryChanges changes;  // of the last Apply
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_
