#ifndef FAIRLEAD_MODEL_FEATURES_H_
#define FAIRLEAD_MODEL_FEATURES_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/labels.h"

namespace fairlead::model {

// Who fetches the key sets that RequestAuthentications name.
enum class KeyFetch : uint8_t {
  kHere,
  kHybrid,  // the proxies those of services that the mesh knows
  kProxies,
};

// Istiod's environment as far as it changes the resources of proxies, with istiod's defaults, and what is
// Fairlead's own (FAIRLEAD_…). Part of the settings: what was made with other features is made anew.
// Immutable after the start. Source: Istio, pilot/pkg/features.
struct Features {
  // --- Listeners
  bool alpn_filter = true;              // PILOT_ENABLE_ALPN_FILTER
  bool mongo_filter = true;             // PILOT_ENABLE_MONGO_FILTER
  bool redis_filter = false;            // PILOT_ENABLE_REDIS_FILTER
  bool mysql_filter = false;            // PILOT_ENABLE_MYSQL_FILTER
  bool pass_100_continue = true;        // ENABLE_100_CONTINUE_HEADERS
  bool http10 = false;                  // PILOT_HTTP10
  bool sidecar_remote_address = false;  // PILOT_SIDECAR_USE_REMOTE_ADDRESS
  bool internal_networks = false;       // ENABLE_HCM_INTERNAL_NETWORKS
  bool skip_trust_domain = false;       // PILOT_SKIP_VALIDATE_TRUST_DOMAIN
  bool headless_chains = false;         // PILOT_ENABLE_HEADLESS_FILTER_CHAIN_LISTENER
  bool ingress_tls = false;             // ENABLE_TLS_ON_SIDECAR_INGRESS
  bool merged_ingress = false;          // PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE
  int accepts_per_event = 1;            // MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP; 0: no limit
  int dynamic_dns_hosts = 1024;         // PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS
  double trace_sampling = 1;            // PILOT_TRACE_SAMPLING, in percent
  std::chrono::nanoseconds handshake_timeout = std::chrono::seconds(15);  // PILOT_GATEWAY_TRANSPORT_SOCKET_…

  // --- Families of addresses
  bool dual_stack = false;    // ISTIO_DUAL_STACK
  bool ipv4_of_ipv6 = false;  // ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS

  // --- Metadata between proxies
  bool metadata_exchange = true;             // PILOT_ENABLE_METADATA_EXCHANGE
  bool metadata_alpn = true;                 // not PILOT_DISABLE_MX_ALPN
  bool telemetry_label = true;               // PILOT_ENABLE_TELEMETRY_LABEL
  bool endpoint_telemetry_label = true;      // PILOT_ENDPOINT_TELEMETRY_LABEL
  std::vector<std::string> exchange_labels;  // PILOT_MX_ADDITIONAL_LABELS; sorted, each once

  // --- Clusters and endpoints
  bool locality_weights = false;          // ENABLE_LOCALITY_WEIGHTED_LB_CONFIG
  bool untracked_limits = true;           // DISABLE_TRACK_REMAINING_CB_METRICS
  bool headless_endpoints = false;        // PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES
  bool prefer_rule_tls = true;            // PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES
  bool send_unhealthy = false;            // PILOT_SEND_UNHEALTHY_ENDPOINTS
  bool send_unhealthy_by_default = true;  // PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS
  bool canonical_external = false;        // LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES
  int dns_queries_per_socket = 100;       // PILOT_DNS_CARES_UDP_MAX_QUERIES; 0: no limit
  std::chrono::nanoseconds dns_jitter = std::chrono::milliseconds(100);  // PILOT_DNS_JITTER_DURATION
  std::string draining_label = "istio.io/draining";                      // PILOT_DRAINING_LABEL; empty: none

  // --- Persistent sessions
  bool sessions = false;                                      // PILOT_ENABLE_PERSISTENT_SESSION_FILTER
  std::string session_label = "istio.io/persistent-session";  // PILOT_PERSISTENT_SESSION_LABEL
  std::string session_header_label =
      "istio.io/persistent-session-header";  // PILOT_PERSISTENT_SESSION_HEADER_…

  // --- Routes
  bool mirror_as_is = true;    // DISABLE_SHADOW_HOST_SUFFIX
  bool absolute_names = true;  // PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN
  bool merge_hosts = true;     // PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION

  // --- Policies
  KeyFetch key_fetch = KeyFetch::kHere;  // PILOT_JWT_ENABLE_REMOTE_JWKS
  bool several_authorizers = false;      // PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS
  bool selectors_of_gateways = true;     // ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY

  // --- Secrets
  std::vector<std::string>
      secret_readers;  // FAIRLEAD_SECRET_READERS: "namespace/account", "namespace/*", "*"

  // --- Gateway API
  bool gateway_api = true;              // PILOT_ENABLE_GATEWAY_API
  bool udp_routes = true;               // FAIRLEAD_ENABLE_UDP_ROUTES
  bool network_gateways = true;         // PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API
  std::string gateway_class = "istio";  // PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME
  std::string gateway_controller = "istio.io/gateway-controller";  // PILOT_GATEWAY_API_CONTROLLER_NAME

  // --- What the mesh consists of
  std::string ipv4_range = "240.240.0.0/16";   // PILOT_IP_AUTOALLOCATE_IPV4_PREFIX; a range of that family
  std::string ipv6_range = "2001:2::/48";      // PILOT_IP_AUTOALLOCATE_IPV6_PREFIX; a range of that family
  bool headless_names_of_all_clusters = true;  // ENABLE_MULTICLUSTER_HEADLESS
  bool pods_by_address = false;                // ENABLE_PROXY_FIND_POD_BY_IP
  bool merge_rules_of_exports = true;          // ENABLE_ENHANCED_DESTINATIONRULE_MERGE
  bool best_namespace = true;                  // PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE
  bool entries_select_pods = true;             // PILOT_ENABLE_SERVICEENTRY_SELECT_PODS
  bool services_select_entries = true;         // PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES
  bool inference_pools = false;                // ENABLE_GATEWAY_API_INFERENCE_EXTENSION
  std::string revision = "default";            // REVISION; of objects of the Gateway API
  bool entries_of_all_clusters = true;         // PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY

  // --- Multi-cluster services. The second needs the first, the third the second.
  bool mcs_discovery = false;                       // ENABLE_MCS_SERVICE_DISCOVERY
  bool mcs_hosts = false;                           // ENABLE_MCS_HOST
  bool mcs_cluster_local = false;                   // ENABLE_MCS_CLUSTER_LOCAL
  std::string mcs_group = "multicluster.x-k8s.io";  // MCS_API_GROUP
  std::string mcs_version = "v1alpha1";             // MCS_API_VERSION

  // Whether a service's sessions outlive an endpoint's removal, by the service's labels.
  bool KeepsSessions(const LabelMap& labels) const {
    return !LabelOr(labels, session_label).empty() || !LabelOr(labels, session_header_label).empty();
  }

  friend bool operator==(const Features&, const Features&) = default;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_FEATURES_H_
