#include "app/discovery_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "app/platform_sources.h"
#include "base/closest_name.h"
#include "base/duration.h"
#include "base/strings.h"
#include "gateway_api/deployments.h"

namespace fairlead::app {
namespace {

std::string CheckDuration(const std::string& text) {
  const auto duration = ParseGoDuration(text);
  return duration && duration->count() >= 0 ? "" : "\"" + text + "\" is no duration (10s, 1m30s, 500ms)";
}

std::string CheckGatewayAddress(const std::string& text) {
  const auto addresses = gateway_api::ParseGatewayAddresses({text});
  return addresses.ok() ? std::string() : std::string(FromAbsl(addresses.status().message()));
}

// Of istiod 1.31 (pilot/cmd/pilot-discovery/app/cmd.go, pkg/log/options.go, pkg/ctrlz/options.go), those that
// AddDiscoveryFlags has not; whether a value follows.
struct IdleFlag {
  std::string_view name;
  bool has_value;
};
constexpr IdleFlag kIdleFlags[] = {
    {"--clusterAliases", true},
    {"--clusterRegistriesNamespace", true},
    {"--log_rotate", true},
    {"--log_rotate_max_age", true},
    {"--log_rotate_max_backups", true},
    {"--log_rotate_max_size", true},
    {"--log_stacktrace_level", true},
    {"--profile", false},
    {"--resync", true},
    {"--vklog", true},
};

const IdleFlag* FindIdleFlag(std::string_view name) {
  const auto* found = std::find_if(std::begin(kIdleFlags), std::end(kIdleFlags),
                                   [&](const IdleFlag& one) { return one.name == name; });
  return found == std::end(kIdleFlags) ? nullptr : found;
}

absl::Status Unknown(const CLI::App& command, const std::string& name) {
  if (!name.starts_with('-'))
    return absl::InvalidArgumentError("\"" + name + "\" is not expected: no flag has it as its value");
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& flag : option->get_lnames()) known.push_back("--" + flag);
  }
  const std::string meant = ClosestName(name, known);
  return absl::InvalidArgumentError("unknown flag " + name +
                                    (meant.empty() ? "" : "; did you mean " + meant + "?"));
}

void AddLogFlags(DiscoveryOptions* o, CLI::App* command) {
  command
      ->add_option("--log_output_level", o->log_output_level,
                   "Log levels: LEVEL or SCOPE:LEVEL,…; a level is " + std::string(LogLevelNames()))
      ->capture_default_str();
  command->add_flag("--log_as_json", o->log_output.as_json, "Write each line of the log as a JSON object");
  command
      ->add_option("--log_target", o->log_output.targets,
                   "Target of the log: stdout, stderr or a file; may be repeated")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--log_caller", o->log_caller,
                      "Scopes, with commas, whose lines include their place in the sources; all");
  command
      ->add_option("--ctrlz_port", o->ctrlz_port,
                   "Port of ControlZ, for changes of log levels at run time (/scopej/SCOPE); 0: off")
      ->capture_default_str();
  command
      ->add_option("--ctrlz_address", o->ctrlz_address,
                   "Address of ControlZ; *: all addresses of this machine")
      ->capture_default_str();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> CheckExtras(const CLI::App& command) {
  std::vector<std::string> idle;
  const std::vector<std::string> words = command.remaining();
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const IdleFlag* flag = FindIdleFlag(name);
    if (flag == nullptr) return Unknown(command, name);
    idle.push_back(name);
    if (flag->has_value && equals == std::string::npos && i + 1 < words.size() &&
        !words[i + 1].starts_with('-'))
      ++i;
  }
  return idle;
}

void AddDiscoveryFlags(DiscoveryOptions* o, CLI::App* command) {
  const CLI::Validator duration(CheckDuration, "DURATION");
  command->add_option("--configDir", o->config_dir,
                      "Folder of the mesh's manifests, with sub-folders; watched");
  command
      ->add_option(
          "--configSource", o->config_sources,
          "URL of another platform with objects or services (consul://HOST:8500?…); several with commas; "
          "may be repeated; docs/sources has the options")
      ->allow_extra_args(false)
      ->check(CLI::Validator(PlatformSourceProblem, ""));
  command
      ->add_option(
          "--meshConfig", o->mesh_config,
          "File of the MeshConfig; watched. The default file may be absent; a file given by flag must exist")
      ->each([o](const std::string&) { o->given_files.emplace_back("--meshConfig"); })
      ->capture_default_str();
  command
      ->add_option("--networksConfig", o->networks_config,
                   "File of the MeshNetworks; watched. The default file may be absent; a file given by flag "
                   "must exist")
      ->each([o](const std::string&) { o->given_files.emplace_back("--networksConfig"); })
      ->capture_default_str();
  command->add_option("--registries", o->registries, "Service registries")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--kubeconfig", o->kubeconfig,
                      "File that says how to reach the API server (kubeconfig) whose objects are the mesh; "
                      "with --configDir, too: "
                      "the folder's objects come first. Without both, that of the pod's own cluster");
  command
      ->add_option("--kubernetesApiQPS", o->api_rate,
                   "Requests a second to the API server, watches and Leases aside; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--kubernetesApiBurst", o->api_burst, "Of those at once, after a quiet time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--domain", o->domain, "DNS domain suffix")->capture_default_str();
  command->add_option("--clusterID", o->cluster_id, "ID of the cluster that this instance resides in")
      ->capture_default_str();
  command->add_option("-n,--namespace", o->ns, "Namespace that this instance resides in")
      ->capture_default_str();

  o->state_dir = o->environment.default_state_dir;
  command
      ->add_option("--stateDir", o->state_dir,
                   "Folder with the last good version of each file, for starts with a broken file (never "
                   "Secrets), with the self-made root and with keys of tokens; empty: no last good versions")
      ->default_str(kStateDirText);
  command
      ->add_option("--onInvalid", o->on_invalid,
                   "Reaction to mistakes in manifests or settings at the start: serve the valid part, or "
                   "refuse (exit status 1)")
      ->check(CLI::IsMember({"serve", "refuse"}))
      ->capture_default_str();
  command
      ->add_option("--onUnsupported", o->on_unsupported,
                   "Reaction at the start to kinds and fields that this version accepts without acting on "
                   "them: warn, or refuse (exit status 1)")
      ->check(CLI::IsMember({"warn", "refuse"}))
      ->capture_default_str();
  command
      ->add_option(
          "--onInvalidPolicy", o->on_invalid_policy,
          "Reaction to an unreadable policy of security.istio.io without an earlier version, until it is "
          "mended: wait (not ready at the start), serve without it, or deny all requests to its workloads")
      ->check(CLI::IsMember({"wait", "serve", "deny"}))
      ->capture_default_str();
  command
      ->add_option("--onEmptied", o->on_emptied,
                   "Reaction to an emptied --configDir: keep the objects until it has manifests again, or "
                   "serve a mesh without objects")
      ->check(CLI::IsMember({"keep", "serve"}))
      ->capture_default_str();
  command->add_option(
      "--statusDir", o->status_dir,
      "Folder for statuses of Gateway API objects, Ingresses and ServiceEntries, one file per object");
  command
      ->add_option("--gatewayAddress", o->gateway_addresses,
                   "GATEWAY.NAMESPACE=ADDRESS: address of the proxy for a Gateway of the Gateway API without "
                   "a Pod in the manifests; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Validator(CheckGatewayAddress, ""));
  auto* out = command->add_option("--xdsOutDir", o->xds_out_dir,
                                  "Folder for each node's resources, for Envoys that read files");
  auto* nodes = command->add_option(
      "--xdsOutNodes", o->xds_out_nodes,
      "File or folder with the nodes of --xdsOutDir: JSON or YAML as in Envoy's bootstrap; watched");
  out->needs(nodes);
  nodes->needs(out);
  command->add_option("--grpcAddr", o->grpc_addr, "xDS over plaintext gRPC; empty: off")
      ->capture_default_str();
  command->add_option("--secureGRPCAddr", o->secure_grpc_addr, "xDS over TLS; empty: off")
      ->capture_default_str();
  command->add_option("--httpAddr", o->http_addr, "HTTP: /ready and /debug; empty: off")
      ->capture_default_str();
  command->add_option("--httpsAddr", o->https_addr, "Injection and validation webhooks; empty: off")
      ->capture_default_str();
  command
      ->add_option(
          "--injectionDirectory", o->injection_directory,
          "Folder with the injector's files config and values; watched. Without them its ConfigMap counts")
      ->capture_default_str();
  command->add_option("--monitoringAddr", o->monitoring_addr, "HTTP: /metrics and /version; empty: off")
      ->capture_default_str();

  command->add_option("--keepaliveInterval", o->keepalive_interval, "Silence before a peer gets a ping")
      ->check(duration)
      ->capture_default_str();
  command
      ->add_option("--keepaliveTimeout", o->keepalive_timeout,
                   "Time for a ping's answer before the connection is closed")
      ->check(duration)
      ->capture_default_str();
  command
      ->add_option("--keepaliveMaxServerConnectionAge", o->keepalive_max_connection_age,
                   "Age at which a connection is closed, so that proxies spread over replicas; empty: never")
      ->check(duration);
  command->add_option("--shutdownDuration", o->shutdown_duration, "Time for streams to end after SIGTERM")
      ->check(duration)
      ->capture_default_str();

  command->add_option("--caCertFile", o->ca_cert_file, "CA certificate of the TLS listeners");
  command->add_option("--tlsCertFile", o->tls_cert_file, "Certificate of the TLS listeners");
  command->add_option("--tlsKeyFile", o->tls_key_file, "Private key of the TLS listeners");
  command->add_option("--tls-cipher-suites", o->tls_cipher_suites, "Cipher suites of the TLS listeners")
      ->delimiter(',');
  command->add_option("--tls-min-version", o->tls_min_version, "Least TLS version of the TLS listeners");
  AddLogFlags(o, command);
  command->allow_extras();
}

}  // namespace fairlead::app
