#ifndef FAIRLEAD_MODEL_SERVICE_H_
#define FAIRLEAD_MODEL_SERVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "config/object.h"
#include "model/protocol.h"
#include "model/visibility.h"

namespace fairlead::model {

enum class Registry : uint8_t { kKubernetes, kExternal };  // kExternal: made by a ServiceEntry

// How a client finds the endpoints. Source: ServiceEntry.Resolution; Kubernetes services are kClientSideLb,
// headless ones kPassthrough (selector-less and with selector alike), ExternalName ones kAlias.
enum class Resolution : uint8_t {
  kClientSideLb,
  kDnsLb,
  kPassthrough,
  kDnsRoundRobinLb,
  kAlias,
  kDynamicDns
};

enum class TrafficDistribution : uint8_t { kAny, kPreferSameZone, kPreferSameNode };

struct ServicePort {
  std::string name;
  uint32_t port = 0;
  Protocol protocol = Protocol::kUnsupported;
  uint32_t target_port = 0;      // number; 0 where it is named or (ServiceEntry) not given
  std::string target_port_name;  // Kubernetes named target port
  uint32_t node_port = 0;

  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct NamespacedHost {
  std::string hostname;
  std::string ns;
  friend auto operator<=>(const NamespacedHost&, const NamespacedHost&) = default;
};

// A service of the mesh, from a Kubernetes Service or one (host, address) of a ServiceEntry; immutable,
// shared by snapshots and caches. Two of them are the same service unchanged if and only if they are the same
// pointer.
struct Service {
  Registry registry = Registry::kKubernetes;
  Interned hostname;  // "reviews.default.svc.cluster.local", "*.example.com"
  std::string name;   // Kubernetes name; of a ServiceEntry its hostname, as Istio reports it
  Interned ns;
  Resolution resolution = Resolution::kClientSideLb;
  bool mesh_external = false;
  std::vector<ServicePort> ports;

  // Addresses a client uses. `address` is "0.0.0.0" where there is none (headless, ServiceEntry without
  // addresses).
  std::string address = "0.0.0.0";
  std::vector<std::string> cluster_vips;  // all in the cluster of `source`, in order (dual stack: two)
  // Of a ServiceEntry with automatically allocated addresses: 240.240.0.0/16 and 2001:2::/48, or of its
  // status.
  std::string auto_allocated_ipv4;
  std::string auto_allocated_ipv6;

  Visibility visibility;
  LabelMap labels;  // of the Service; for a ServiceEntry of the entry
  LabelMap selector;
  std::vector<std::string>
      service_accounts;  // SPIFFE ids or names that annotations/subjectAltNames add; sorted
  int64_t creation_time = 0;
  config::ConfigPtr source;  // the object it was made from

  // Kubernetes only.
  std::string type;  // ClusterIP, NodePort, LoadBalancer, ExternalName
  std::string external_name;
  bool node_local = false;  // internalTrafficPolicy: Local
  TrafficDistribution traffic_distribution = TrafficDistribution::kAny;
  bool publish_not_ready_addresses = false;
  std::string session_affinity;
  std::vector<std::string> external_addresses;  // load balancer ingress IPs/hostnames, externalIPs
  std::map<uint32_t, uint32_t> node_ports;  // service port -> node port, where externally reachable that way
  std::vector<NamespacedHost> aliases;      // ExternalName services that stand for this one, sorted
  // The Services of the same name in further clusters, in the order of the clusters' ids, each as its own
  // cluster has it. This one is the first cluster's: the control plane's own comes before all others. Source:
  // Istio's aggregate controller, mergeService.
  std::vector<std::shared_ptr<const Service>> in_other_clusters;

  // The cluster of `source`, as in config::ObjectMeta.
  Interned cluster() const { return source == nullptr ? Interned() : source->cluster(); }
  bool headless() const {
    return resolution == Resolution::kPassthrough && registry == Registry::kKubernetes;
  }
  const ServicePort* FindPort(uint32_t number) const {
    for (const ServicePort& p : ports) {
      if (p.port == number) return &p;
    }
    return nullptr;
  }
  // The port that clusters and routes are for: a number may have a UDP port beside it (Istio: GetByPort).
  const ServicePort* FindTcpPort(uint32_t number) const {
    for (const ServicePort& p : ports) {
      if (p.port == number && p.protocol != Protocol::kUdp) return &p;
    }
    return nullptr;
  }
  const ServicePort* FindUdpPort(uint32_t number) const {
    for (const ServicePort& p : ports) {
      if (p.port == number && p.protocol == Protocol::kUdp) return &p;
    }
    return nullptr;
  }
  const ServicePort* FindPortByName(std::string_view port_name) const {
    for (const ServicePort& p : ports) {
      if (p.name == port_name) return &p;
    }
    return nullptr;
  }

  // Of contents; whether two pointers stand for the same, unchanged service is told by the pointers.
  friend bool operator==(const Service&, const Service&) = default;
};

using ServicePtr = std::shared_ptr<const Service>;

// The service as a cluster (see config::ObjectMeta) has it; null where it has none.
inline ServicePtr InCluster(const ServicePtr& service, const Interned& cluster) {
  if (service->cluster() == cluster) return service;
  for (const ServicePtr& one : service->in_other_clusters) {
    if (one->cluster() == cluster) return one;
  }
  return nullptr;
}

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SERVICE_H_
