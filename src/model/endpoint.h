#ifndef FAIRLEAD_MODEL_ENDPOINT_H_
#define FAIRLEAD_MODEL_ENDPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"

namespace fairlead::model {

struct Locality {
  Interned region, zone, subzone;

  bool empty() const { return region.empty() && zone.empty() && subzone.empty(); }
  // "region/zone/subzone" without trailing empty parts; "" where there is none.
  std::string ToString() const;
  static Locality Parse(std::string_view text);  // of "region/zone/subzone"
  friend bool operator==(const Locality&, const Locality&) = default;
  friend bool operator<(const Locality& a, const Locality& b) {
    return std::tie(a.region, a.zone, a.subzone) < std::tie(b.region, b.zone, b.subzone);
  }
  template <typename H>
  friend H AbslHashValue(H h, const Locality& l) {
    return H::combine(std::move(h), l.region, l.zone, l.subzone);
  }
};

// Health as it is sent in EDS. Not-ready endpoints are kept and sent as unhealthy where a policy wants them.
// kUnknown is what a ServiceEntry's or WorkloadEntry's endpoint has as long as nobody reported its health;
// its health is then left out on the wire.
enum class Health : uint8_t { kUnknown, kHealthy, kUnhealthy, kDraining, kTerminating };

// What all endpoints of one pod or workload entry have in common; one object, shared by them. Immutable.
struct Workload {
  Interned name;  // workload name as telemetry reports it: the deployment's for a pod
  Interned ns;
  LabelMap labels;  // with topology labels added (model/workload_labels.h)
  Interned
      service_account;  // the SPIFFE identity (spiffe://<trust domain>/ns/<ns>/sa/<account>), "" if unknown
  // As it is written, and what that means. Endpoints are grouped by the text: "r/z/", as of a node without
  // subzone, is another group than "r/z" (Istio: EndpointBuilder).
  Interned locality_label;
  Locality locality;
  Interned network;
  Interned cluster;   // cluster id
  Interned tls_mode;  // "istio" where the workload has a sidecar that speaks mTLS, "disabled" otherwise
  Interned node_name;
  Interned hostname;  // pod hostname and subdomain, for headless per-pod DNS names
  Interned subdomain;

  void SetLocality(std::string_view label) {
    locality_label = label;
    locality = Locality::Parse(label);
  }
  friend bool operator==(const Workload&, const Workload&) = default;
};
using WorkloadPtr = std::shared_ptr<const Workload>;

// One address and port of a service. Small: a mesh has hundreds of thousands.
struct Endpoint {
  std::vector<Interned>
      addresses;       // the first is the key; more for dual stack. A path for unix domain sockets
  Interned port_name;  // service port it serves
  // Of a ServiceEntry: the number of the service port it serves. 0 of a Kubernetes service, which matches by
  // port name (Istio: LegacyClusterPortKey). Clusters with inline endpoints match by number where there is
  // one; EDS by name always.
  uint32_t service_port = 0;
  uint32_t port = 0;    // where the workload listens; 0 for unix domain sockets
  uint32_t weight = 0;  // 0: not set
  Health health = Health::kHealthy;
  bool own_cluster_only = false;  // for proxies of the workload's cluster alone
  WorkloadPtr workload;           // never null

  // Workloads are compared by pointer: the registries keep it while the workload does not change.
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// All endpoints of one service from one registry of one cluster, in the registry's order.
struct EndpointShard {
  Interned cluster;
  uint8_t registry = 0;  // model::Registry
  std::vector<Endpoint> endpoints;

  friend bool operator==(const EndpointShard&, const EndpointShard&) = default;
};

// All endpoints of one service (hostname and namespace): immutable, shared; replaced whole when one endpoint
// changes.
struct ServiceEndpoints {
  std::vector<EndpointShard> shards;          // sorted by (registry name, cluster)
  std::vector<std::string> service_accounts;  // SPIFFE identities of the endpoints, sorted, unique

  friend bool operator==(const ServiceEndpoints&, const ServiceEndpoints&) = default;
};
using ServiceEndpointsPtr = std::shared_ptr<const ServiceEndpoints>;

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_ENDPOINT_H_
