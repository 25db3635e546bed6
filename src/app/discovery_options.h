#ifndef FAIRLEAD_APP_DISCOVERY_OPTIONS_H_
#define FAIRLEAD_APP_DISCOVERY_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/environment.h"
#include "base/log_output.h"

namespace CLI {
class App;
}

namespace fairlead::app {

// What `fairlead discovery` was started with: istiod's flags, with its names and defaults.
// Source: istio.io/latest/docs/reference/commands/pilot-discovery
struct DiscoveryOptions {
  Environment environment;

  std::string config_dir;
  std::vector<std::string> config_sources;  // URLs of platforms, several in one with ","; checked
  std::string mesh_config = "./etc/istio/config/mesh";
  std::string networks_config = "./etc/istio/config/meshNetworks";
  // Flags of files that were given: the file must be there.
  std::vector<std::string> given_files;
  std::vector<std::string> registries = {"Kubernetes"};
  std::string kubeconfig;
  double api_rate = 80;  // requests a second to the API server, watches and Leases aside; 0: no limit
  int api_burst = 160;   // of those at once
  std::string domain = "cluster.local";
  std::string cluster_id;  // default: the environment's
  std::string ns;          // default: the environment's

  std::string state_dir;                   // "": last good versions end with the process
  std::string on_invalid = "serve";        // or "refuse"
  std::string on_unsupported = "warn";     // or "refuse"
  std::string on_invalid_policy = "wait";  // or "serve", "deny"
  std::string on_emptied = "keep";         // or "serve"

  std::vector<std::string> gateway_addresses;  // see gateway_api::ParseGatewayAddresses; checked

  std::string xds_out_dir;  // "": no files are written
  std::string xds_out_nodes;
  std::string status_dir;  // "": no statuses are written

  // Listeners; an empty address turns one off.
  std::string grpc_addr = ":15010";
  std::string secure_grpc_addr = ":15012";
  std::string http_addr = ":8080";
  std::string https_addr = ":15017";
  std::string injection_directory = "./var/lib/istio/inject";
  std::string monitoring_addr = ":15014";

  std::string keepalive_interval = "30s";
  std::string keepalive_timeout = "10s";
  std::string keepalive_max_connection_age = "";  // "": for ever
  std::string shutdown_duration = "10s";

  std::string ca_cert_file, tls_cert_file, tls_key_file, tls_min_version;
  std::vector<std::string> tls_cipher_suites;
  std::string log_output_level = "default:info";
  std::string log_caller;  // scopes with commas
  LogOutput log_output;

  uint16_t ctrlz_port = 9876;               // 0: off
  std::string ctrlz_address = "localhost";  // "*": all
};

// The default of --stateDir, for people (app/state_folder.h).
inline constexpr char kStateDirText[] = "/var/lib/fairlead, of other users ~/.local/state/fairlead";

// Adds the flags to a command. The options must outlive the parsing. Flags that it does not know are
// left to the caller (CLI::App::remaining) and to CheckExtras.
void AddDiscoveryFlags(DiscoveryOptions* options, CLI::App* command);

// What a command left over: flags of istiod's that mean nothing here are given back, so that its command
// lines work; InvalidArgument for anything else, with the flag that was probably meant.
absl::StatusOr<std::vector<std::string>> CheckExtras(const CLI::App& command);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_DISCOVERY_OPTIONS_H_
