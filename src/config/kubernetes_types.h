#ifndef FAIRLEAD_CONFIG_KUBERNETES_TYPES_H_
#define FAIRLEAD_CONFIG_KUBERNETES_TYPES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"

// The parts of Kubernetes' core kinds that a mesh reads, with the API server's defaults filled in. Field
// meanings are those of the Kubernetes API reference (core/v1, discovery/v1). Plain values without behaviour.
namespace fairlead::config {

// An intstr.IntOrString: the name is empty where a number is given. Number 0 and no name: not set.
struct PortReference {
  int number = 0;
  std::string name;
};

struct ServicePortSpec {
  std::string name;
  std::string protocol = "TCP";
  std::optional<std::string> app_protocol;
  int port = 0;
  PortReference target_port;
  int node_port = 0;
};

struct LoadBalancerIngress {
  std::string ip;
  std::string hostname;
};

struct ServiceSpec {
  std::string type = "ClusterIP";
  std::string cluster_ip;  // "" or "None" for headless
  std::vector<std::string> cluster_ips;
  std::vector<std::string> external_ips;
  std::vector<std::string> ip_families;  // "IPv4", "IPv6"
  std::string external_name;
  LabelMap selector;
  std::vector<ServicePortSpec> ports;
  bool publish_not_ready_addresses = false;
  std::string session_affinity = "None";
  std::optional<int> session_affinity_timeout_seconds;  // spec.sessionAffinityConfig.clientIP.timeoutSeconds
  std::string internal_traffic_policy = "Cluster";
  std::string external_traffic_policy;
  std::string traffic_distribution;
  std::string load_balancer_ip;
  std::vector<LoadBalancerIngress> load_balancer_ingress;  // status.loadBalancer.ingress
};

struct TargetReference {
  std::string kind, ns, name;
};

struct SlicePort {
  std::string name;
  std::string protocol = "TCP";
  std::optional<int> port;
  std::optional<std::string> app_protocol;
};

struct SliceEndpoint {
  std::vector<Interned> addresses;
  std::optional<bool> ready;
  std::optional<bool> serving;
  std::optional<bool> terminating;
  std::string hostname;
  std::string node_name;
  std::string zone;
  std::optional<TargetReference> target;
  std::vector<SlicePort> ports;  // of its subset, in the mirror of an Endpoints object
};

struct EndpointSliceSpec {
  std::string address_type = "IPv4";  // IPv4, IPv6, FQDN
  std::vector<SliceEndpoint> endpoints;
  std::vector<SlicePort> ports;  // of all endpoints; empty in a mirror
  bool mirror = false;           // of an Endpoints object, see config/endpoints.h
};

struct ContainerPortSpec {
  std::string name;
  int container_port = 0;
  std::string protocol = "TCP";
};

struct PodSpec {
  std::string service_account = "default";
  std::string node_name;
  std::string hostname;
  std::string subdomain;
  bool host_network = false;
  bool has_containers = false;  // an API server admits no Pod without one; nothing can answer calls to it
  std::vector<ContainerPortSpec> ports;  // of all containers, in their order
  std::string phase;                     // status.phase
  bool ready = false;                    // condition Ready is True
  std::string pod_ip;                    // status.podIP
  std::vector<std::string> pod_ips;      // status.podIPs
};

struct NodeAddress {
  std::string type;  // InternalIP, ExternalIP, Hostname …
  std::string address;
};

struct NodeSpec {
  std::vector<NodeAddress> addresses;  // status.addresses
  std::string kubelet_version;         // status.nodeInfo.kubeletVersion
};

struct NamespaceSpec {};       // only the metadata matters
struct ServiceAccountSpec {};  // likewise
struct ServiceExportSpec {};   // likewise, see ServiceImportSpec

// Of the Multicluster Services API. Source: sigs.k8s.io/mcs-api.
struct ServiceImportSpec {
  std::vector<std::string> ips;  // of the cluster set, as its own cluster has them
};

struct SecretSpec {
  std::string type = "Opaque";
  std::map<std::string, std::string> data;  // decoded bytes; stringData is merged over data
};

struct ConfigMapSpec {
  std::map<std::string, std::string> data;
  std::map<std::string, std::string> binary_data;  // decoded bytes
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_KUBERNETES_TYPES_H_
