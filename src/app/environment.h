#ifndef FAIRLEAD_APP_ENVIRONMENT_H_
#define FAIRLEAD_APP_ENVIRONMENT_H_

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "app/identity_options.h"
#include "base/ip_address.h"
#include "injection/surroundings.h"
#include "model/compliance.h"
#include "model/features.h"
#include "model/settings.h"

namespace fairlead::app {

// What the environment says, by Istio's names where Istio has the variable. Read once at the start and handed
// down; nothing below calls getenv.
struct Environment {
  std::chrono::nanoseconds debounce_after = std::chrono::milliseconds(100);
  std::chrono::nanoseconds debounce_max = std::chrono::seconds(10);
  bool debounce_endpoints = false;
  size_t endpoint_pushes_per_second = 2;  // in a storm; 0: no limit
  std::chrono::nanoseconds send_timeout = std::chrono::seconds(5);
  int push_throttle = 0;                                                // 0: one thread a core
  double max_requests_per_second = 0;                                   // new streams; 0: no limit
  int max_receive_size = 4 << 20;                                       // of a message from a proxy, in bytes
  int max_streams = 100000;                                             // of one connection
  int max_streams_without_identity = 100;                               // likewise
  int max_connections_per_address = 4096;                               // without identity; 0: no limit
  std::chrono::nanoseconds connection_idle = std::chrono::seconds(60);  // without a stream; 0: for ever
  std::chrono::nanoseconds first_message_timeout = std::chrono::seconds(30);  // of a stream
  int max_names = 100'000;                                                    // of one type on one stream
  int max_name_bytes = 16 << 20;                                              // of those names together
  int node_bytes = 512 << 10, node_values = 20'000;                   // of the node of a first request
  int node_text = 4096, node_entries = 1000;                          // of texts and lists in it
  int unproven_memory = 24 << 20;                                     // that peers without identity hold
  std::string keepalive_interval = "30s", keepalive_timeout = "10s";  // defaults of the flags
  size_t http_connections = 512;                                      // of the HTTP listener, at a time
  bool debug_on_http = true;
  bool endpoints_from_pods = true;  // of Services of a folder that have no EndpointSlice
  bool authorize_objects = true;
  std::string cluster_id = "Kubernetes";
  std::string pod_namespace = "istio-system";
  // Of injection.
  std::string revision, shared_mesh_config, platform, compliance_policy;
  injection::NativeSidecars native_sidecars = injection::NativeSidecars::kAuto;
  std::string pod_name;
  std::string kubernetes_host,
      kubernetes_port = "443";  // of the cluster that this process is a pod of; "": of none
  // Of the cluster's API server: what is written there.
  bool cluster_writes = true, leader_election = true, gateway_statuses = true, trust_bundles = false,
       root_in_cacerts = false;
  // Whether Gateways are deployed, whether their own labels and annotations go along, and whether the mesh's
  // GatewayClasses are made.
  bool gateway_deployments = true, gateway_metadata = true, gateway_classes = true;
  bool export_services = false;  // a ServiceExport for each Service
  std::string root_config_map = "istio-ca-root-cert";
  // WorkloadEntries of proxies.
  bool auto_registration = true, entry_health = true, entry_identity = true;
  std::chrono::nanoseconds entry_grace = std::chrono::seconds(10);
  bool external_control_plane = false;  // it resides in a cluster that is not the mesh's own
  bool local_secrets = false;           // then kubeconfigs of other clusters are in the cluster of the pod
  bool remote_credentials = true;       // whether Secrets of other clusters are read
  std::set<std::string, std::less<>> kubeconfig_options;  // see kube::ParseUntrustedKubeconfig
  std::chrono::nanoseconds remote_cluster_timeout = std::chrono::seconds(30);  // 0: none
  int remote_clusters = 100;                                                   // at most
  bool plaintext_identity = false;
  // Certificates: the authority, its root, and who callers are.
  bool ca_server = true;
  std::string root_ca_dir = "./etc/cacerts", ca_dir;  // the latter empty: in the state folder
  std::string default_state_dir;                      // absolute
  std::chrono::nanoseconds default_certificate_lifetime = std::chrono::hours(24);
  std::chrono::nanoseconds max_certificate_lifetime = std::chrono::hours(24 * 90);
  std::chrono::nanoseconds root_lifetime = std::chrono::hours(24 * 3650);
  std::chrono::nanoseconds root_check_interval = std::chrono::hours(1);
  int root_grace_percent = 20;
  int root_rsa_bits = 0;  // 0: ECDSA
  std::string custom_host, server_name, token_issuer, token_audience = "istio-ca", token_keys;
  std::string signer_url, signer_profile, signer_token, signer_tls_roots;  // of a signer elsewhere
  std::string trusted_node_accounts, trusted_gateways;                     // lists with commas
  int certificate_queue = 8;    // requests of one peer that wait at a time
  double certificate_rate = 1;  // certificates a second, of one identity at one address; 0: no limit
  int certificate_burst = 20;   // of those at once
  IdentityOptions identity;
  bool multi_root = false;
  bool authenticate_xds = true, check_identity = true;
  model::GatewayFeatures gateways;
  model::Features features;
  std::string ingress_namespace = "istio-system";
  bool shadow = false;
  bool revocations = true;                            // whether an authority's ca-crl.pem counts
  std::string ignored_resources, included_resources;  // see IgnoredKinds
  std::string only_namespace;                         // see IgnoredObjects
  std::chrono::nanoseconds key_refresh = std::chrono::minutes(20);
  bool believe_key_servers = false;
  std::vector<IpPrefix> blocked_key_servers;
  model::Compliance compliance = model::Compliance::kNone;
};

// One variable: its name, default and meaning, for `fairlead environment` and the documentation.
struct EnvironmentVariable {
  std::string_view name;
  std::string_view fallback;
  std::string_view meaning;
};
const std::vector<EnvironmentVariable>& EnvironmentTable();

// Reads the variables; `get` gives null for one that is not set. InvalidArgument names a variable that cannot
// be read.
absl::StatusOr<Environment> ReadEnvironment(const std::function<const char*(const char*)>& get);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_ENVIRONMENT_H_
