#ifndef FAIRLEAD_AGENT_OPTIONS_H_
#define FAIRLEAD_AGENT_OPTIONS_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/log_output.h"
#include "nlohmann/json.hpp"
#include "wasm/module_cache.h"

namespace fairlead::agent {

using Environment = std::map<std::string, std::string, std::less<>>;

// The process's own environment.
Environment CurrentEnvironment();

// The options of the node agent. Precedence: command line, then Istio's ProxyConfig, then the default. The
// ProxyConfig is the default one, the mesh's file (--meshConfig), PROXY_CONFIG and the pod's annotation
// proxy.istio.io/config, of which the later counts for each field. Source: pilot-agent.
struct Options {
  // The identity of the proxy.
  std::string type = "sidecar";  // sidecar, router, waypoint, …
  std::string pod_name, pod_namespace = "default", domain;
  std::vector<std::string> addresses;           // INSTANCE_IP first, then those of the interfaces
  std::string service_cluster = "istio-proxy";  // where the ProxyConfig's is empty
  // The effective ProxyConfig (istio.mesh.v1alpha1.ProxyConfig) as JSON, fields in lowerCamelCase.
  nlohmann::json proxy_config = nlohmann::json::object();
  // Of Envoy's node, ISTIO_META_* and ISTIO_METAJSON_* included.
  nlohmann::json metadata = nlohmann::json::object();
  std::map<std::string, std::string> annotations;  // the pod's, of the downward API
  std::string locality;                            // "region/zone/subzone"

  // Where the control plane is.
  std::string discovery_address = "istiod.istio-system.svc:15012";
  bool delta = true;  // ISTIO_DELTA_XDS
  std::string mesh_config_file = "./etc/istio/config/mesh";

  // Certificates. TLS to the control plane and a certificate from it: at port 15012, or where CA_ADDR is set.
  bool tls = false;
  bool plaintext_discovery = false;  // configuration comes without TLS, whatever `tls` is
  std::string ca_address;            // CA_ADDR; "": the control plane
  std::string server_name;           // ISTIOD_SAN: whom its certificate must name; "": the address's host
  // XDS_ROOT_CA and CA_ROOT_CA: roots that vouch for the control plane and for the authority; "SYSTEM": the
  // machine's. Resolved to files by ReadSecurityVariables.
  std::string roots_file = "./var/run/secrets/istio/root-cert.pem", ca_roots_file;
  bool own_roots_file = false;                                      // XDS_ROOT_CA is set
  std::string token_file = "./var/run/secrets/tokens/istio-token";  // FAIRLEAD_TOKEN_FILE
  std::string provided_certificates;                 // PROV_CERT: a folder, in place of a token
  std::string mounted_certificates = "./etc/certs";  // used where its files are there
  bool ask_what_to_trust = false;                    // PROXY_CONFIG_XDS_AGENT
  bool only_mounted = false;                         // FILE_MOUNTED_CERTS: ask no authority
  std::string trust_domain = "cluster.local", service_account = "default";
  std::chrono::milliseconds secret_lifetime = std::chrono::hours(24);  // SECRET_TTL
  double grace_ratio = 0.5, grace_jitter = 0.01;                    // SECRET_GRACE_PERIOD_RATIO, …_JITTER
  int rsa_bits = 2048;                                              // WORKLOAD_RSA_KEY_SIZE
  std::string crl_file = "./var/run/secrets/istio/crl/ca-crl.pem";  // FAIRLEAD_CRL_FILE; need not be there
  bool ecdsa = false;                                               // ECC_SIGNATURE_ALGORITHM is ECDSA
  bool p384 = false;                                                // ECC_CURVE is P384
  bool pkcs8 = false;                                               // PKCS8_KEY: the form of keys
  bool google_token = false;  // CREDENTIAL_FETCHER_TYPE: the token is the machine's at Google
  std::string metadata_host;  // GCE_METADATA_HOST: Google's metadata server
  std::map<std::string, std::string> ca_headers, xds_headers;  // CA_HEADER_*, XDS_HEADER_*; lower case
  std::chrono::milliseconds file_debounce{100};                // FILE_DEBOUNCE_DURATION
  // Files of an external SPIFFE agent, used where all three are there.
  std::string spiffe_certificates = "./var/run/secrets/workload-spiffe-credentials";
  bool gke_certificates = false;  // CA_PROVIDER: they are there under the names of Google's Kubernetes
  // WORKLOAD_IDENTITY_SOCKET_FILE, in the folder of workload sockets. Another name than the default is
  // somebody else's socket.
  std::string socket_name = "socket";
  std::string secret_socket = "./var/run/secrets/workload-spiffe-uds/socket";

  // The socket of secrets by file, where the socket above is somebody else's.
  std::string file_secret_socket = "./var/run/secrets/credential-uds/files-socket";
  std::string credential_socket = "./var/run/secrets/credential-uds/socket";  // of sds:// credentials

  // Configuration comes through the agent. Wasm modules are fetched by it:
  bool fetch_modules = true;  // ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION
  std::string relay_socket;   // in the configuration's folder; "": Envoy asks the control plane itself
  // FAIRLEAD_WASM_DIR, WASM_…, ISTIO_WASM_MAX_BINARY_SIZE_BYTES, BLOCKED_CIDRS_IN_WASM_FETCH
  wasm::ModuleCache::Options modules;

  // The DNS proxy (dns_proxy.h): of a sidecar with ISTIO_META_DNS_CAPTURE, or with
  // ISTIO_META_ENABLE_DNS_SERVER.
  bool dns = false;
  std::string dns_address = "localhost:15053";   // DNS_PROXY_ADDR
  bool dns_parallel = false;                     // DNS_FORWARD_PARALLEL
  std::chrono::milliseconds dns_timeout{5'000};  // DNS_FORWARD_TIMEOUT

  // gRPC libraries.
  bool disable_envoy = false;                                            // DISABLE_ENVOY
  std::string grpc_bootstrap = "./etc/istio/proxy/grpc-bootstrap.json";  // GRPC_XDS_BOOTSTRAP; "": none
  bool own_grpc_bootstrap = false;                                       // it is set
  // The folder of key.pem, cert-chain.pem and root-cert.pem (OUTPUT_CERTS); "": no TLS.
  std::string certificate_folder;

  // Envoy.
  std::string binary = "/usr/local/bin/envoy";
  std::string config_folder = "./etc/istio/proxy";
  std::string custom_config_file;  // in place of the agent's bootstrap
  std::string bootstrap_override;  // ISTIO_BOOTSTRAP_OVERRIDE: a file that Envoy lays over the bootstrap
  std::string template_file;       // --templateFile; told, not read
  int admin_port = 15000;
  int prometheus_port = 15090;  // ENVOY_PROMETHEUS_PORT; 0: no listener
  // ENVOY_SECURE_METRICS_PORT, ENVOY_SECURE_MERGED_METRICS_PORT: listeners with mutual TLS; 0: none
  int secure_metrics_port = 0, secure_merged_metrics_port = 0;
  // The agent's own port (status/status_server.h), and Envoy's, which leads there (ENVOY_STATUS_PORT); 0:
  // none.
  int status_port = 15020, envoy_status_port = 15021;
  int concurrency = 0;                // 0: Envoy's own choice
  int cpu_limit = 0;                  // ISTIO_CPU_LIMIT: the concurrency where nothing else says it; 0: none
  std::string log_level = "warning";  // also with levels of components: "info,upstream:debug"
  std::string component_log_level;
  std::string outlier_log_path;
  int base_id = -1;                    // -1: no hot restart
  int sts_port = 0;                    // told; nobody serves it
  std::string instance_ip;             // INSTANCE_IP as it is written: where the application is probed
  std::string app_probers;             // ISTIO_KUBE_APP_PROBERS
  std::string scrape_targets;          // ISTIO_PROMETHEUS_ANNOTATIONS
  bool probe_localhost = false;        // REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION
  bool http2_probes = true;            // ISTIO_ENABLE_HTTP2_PROBING
  bool merge_envoy_metrics = true;     // PILOT_AGENT_MERGE_ENVOY_STATS
  bool metrics_for_localhost = false;  // METRICS_LOCALHOST_ACCESS_ONLY
  std::string host_ip;                 // HOST_IP: what $(HOST_IP) in addresses stands for
  bool dual_stack = false;             // ISTIO_DUAL_STACK
  bool status_proxy_protocol = false;  // ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL
  bool rejects_fragments = true;       // HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED
  bool skip_deprecated_logs = true;    // ENVOY_SKIP_DEPRECATED_LOGS
  bool core_dump = false;              // ISTIO_ENVOY_ENABLE_CORE_DUMP
  std::string compliance;              // COMPLIANCE_POLICY
  std::optional<bool> peer_discovery;  // PEER_METADATA_DISCOVERY
  bool istio_extensions = true;        // whether Envoy's program has them
  std::chrono::milliseconds file_flush_interval{1'000};
  uint32_t file_flush_min_size_kb = 0;  // 0: Envoy's default
  std::chrono::milliseconds drain_duration{45'000};
  std::chrono::milliseconds termination_drain_duration{5'000};  // TERMINATION_DRAIN_DURATION_SECONDS
  std::chrono::milliseconds minimum_drain_duration{5'000};      // with exit_on_zero_active_connections
  bool exit_on_zero_active_connections = false;
  std::vector<std::string> remarks;  // on what was read and is of no use; to be warned about
  // The agent's own log.
  std::string own_log_level = "default:info";
  std::string own_log_caller;
  LogOutput own_log;
};

// Reads `fairlead agent`'s command line (without the program's and the subcommand's names), the environment,
// and the files that these name, the pod's labels and annotations among them. InvalidArgument names the flag,
// variable or file that cannot be read. kUnavailable with the text: help was asked for. `folder`: where
// relative paths of those files begin.
absl::StatusOr<Options> ReadOptions(const std::vector<std::string>& arguments, const Environment& environment,
                                    const std::string& folder = ".");

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_OPTIONS_H_
