#ifndef FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_
#define FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
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

// What an Apply changed in the RegistryOutput, so that whoever indexes it need not compare everything.
struct RegistryChanges {
  bool services = false;  // some service is new, changed or gone
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
};

// What the registries found out of a mesh's objects: plain values, pointers kept where nothing changed.
struct RegistryOutput {
  std::vector<ServicePtr> services;  // any order; unique by (source, hostname, address)
  absl::flat_hash_map<ServiceKey, ServiceEndpointsPtr> endpoints;
  std::vector<std::shared_ptr<const WorkloadInstance>> workloads;  // any order
  // By address, which of the ServiceEntries' services are served there, as GetProxyServiceTargets of Istio's
  // registry finds them: in the order of the services' hosts. Kubernetes services are matched to pods by
  // their selectors.
  absl::flat_hash_map<Interned, std::vector<ExternalTarget>> external_targets;
  std::vector<NetworkGateway> network_gateways;
  std::vector<config::Diagnostic> diagnostics;
  RegistryChanges changes;  // of the last Apply
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_REGISTRY_OUTPUT_H_
