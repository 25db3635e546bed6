#ifndef FAIRLEAD_AGENT_OPTIONS_H_
#define FAIRLEAD_AGENT_OPTIONS_H_

#include <chrono>
#include <map>
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

// The options of the node agent. Precedence, as in Istio's pilot-agent: command line, then PROXY_CONFIG (a
// ProxyConfig as YAML or JSON in the environment), then the default.
struct Options {
  // The identity of the proxy.
  std::string type = "sidecar";  // sidecar or router
  std::string pod_name, pod_namespace = "default", domain;
  std::vector<std::string> addresses;  // INSTANCE_IP (comma-separated), else found on the interfaces
  std::string service_cluster;         // "" : from the labels
  nlohmann::json metadata =
      nlohmann::json::object();  // node metadata, ISTIO_META_* and ISTIO_METAJSON_* included
  std::string locality;          // "region/zone/subzone", from the istio-locality label

  // Where the control plane is.
  std::string discovery_address = "localhost:15010";
  bool delta = true;  // ISTIO_DELTA_XDS

  // Certificates. TLS to the control plane and a certificate from it: at port 15012, or where CA_ADDR is set.
  bool tls = false;
  std::string ca_address;   // CA_ADDR; "": the control plane
  std::string server_name;  // ISTIOD_SAN: whom its certificate must name; "": the address's host
  std::string roots_file = "./var/run/secrets/istio/root-cert.pem";  // XDS_ROOT_CA: that vouch for it
  std::string token_file = "./var/run/secrets/tokens/istio-token";   // FAIRLEAD_TOKEN_FILE
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
  std::string secret_socket = "./var/run/secrets/workload-spiffe-uds/socket";

  // Wasm modules: fetched by the agent, through which Envoy's configuration then comes.
  bool relay = true;         // ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION; of an agent that runs Envoy
  std::string relay_socket;  // in the configuration's folder; "": Envoy asks the control plane itself
  // FAIRLEAD_WASM_DIR, WASM_…, ISTIO_WASM_MAX_BINARY_SIZE_BYTES, BLOCKED_CIDRS_IN_WASM_FETCH
  wasm::ModuleCache::Options modules;

  // gRPC libraries: the folder of key.pem, cert-chain.pem and root-cert.pem (OUTPUT_CERTS); "": no TLS.
  std::string certificate_folder;

  // Envoy.
  std::string binary = "envoy";
  std::string config_folder = "./etc/istio/proxy";
  int admin_port = 15000;
  int prometheus_port = 15090;  // 0: no listener
  // The port of the agent's own probes (health.h); 0: none. The second is Envoy's in Istio
  // (ENVOY_STATUS_PORT).
  int status_port = 15020, envoy_status_port = 15021;
  int concurrency = 0;  // 0: Envoy's own choice
  std::string log_level = "warning";
  std::string component_log_level = "misc:error";
  int base_id = -1;  // -1: Envoy chooses one that is free
  nlohmann::json runtime = nlohmann::json::object();
  std::chrono::milliseconds drain_duration{45'000};
  std::chrono::milliseconds termination_drain_duration{5'000};
  std::chrono::milliseconds minimum_drain_duration{5'000};  // with exit_on_zero_active_connections
  bool exit_on_zero_active_connections = false;
  std::vector<std::string> remarks;  // on what was read and is of no use; to be warned about
  // The agent's own log.
  std::string own_log_level = "default:info";
  std::string own_log_caller;
  LogOutput own_log;
};

// Reads `fairlead agent`'s command line (without the program's and the subcommand's names) and environment.
// InvalidArgument names the flag or variable that cannot be read. kUnavailable with the text: help was asked
// for.
absl::StatusOr<Options> ReadOptions(const std::vector<std::string>& arguments,
                                    const Environment& environment);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_OPTIONS_H_
