#include "app/discovery_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

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
    {"--kubernetesApiBurst", true},
    {"--kubernetesApiQPS", true},
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
                   "Where the log goes: stdout, stderr or a file; may be given often")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--log_caller", o->log_caller,
                      "Scopes, with commas, whose lines say where in the sources they are written; all");
  command
      ->add_option("--ctrlz_port", o->ctrlz_port,
                   "Port of ControlZ, where levels are changed at run time (/scopej/SCOPE); 0: off")
      ->capture_default_str();
  command->add_option("--ctrlz_address", o->ctrlz_address, "Its address; *: all of this machine's")
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
  command->add_option("--configDir", o->config_dir, "Folder of manifests that is the mesh; watched");
  command
      ->add_option("--meshConfig", o->mesh_config,
                   "File of the MeshConfig; watched; where it is not there the defaults hold, but a file that is "
                   "named must be there")
      ->each([o](const std::string&) { o->given_files.emplace_back("--meshConfig"); })
      ->capture_default_str();
  command->add_option("--networksConfig", o->networks_config, "File of the MeshNetworks; watched; as above")
      ->each([o](const std::string&) { o->given_files.emplace_back("--networksConfig"); })
      ->capture_default_str();
  command->add_option("--registries", o->registries, "Service registries")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--kubeconfig", o->kubeconfig, "Kubernetes configuration file");
  command->add_option("--domain", o->domain, "DNS domain suffix")->capture_default_str();
  command->add_option("--clusterID", o->cluster_id, "ID of the cluster that this instance resides in")
      ->capture_default_str();
  command->add_option("-n,--namespace", o->ns, "Namespace that this instance resides in")
      ->capture_default_str();

  o->state_dir = o->environment.default_state_dir;
  command
      ->add_option(
          "--stateDir", o->state_dir,
          "Folder that keeps the last good version of each file, for starts that find one broken (never "
          "Secrets), the root of our own and keys of tokens; empty: none of the versions")
      ->default_str(kStateDirText);
  command
      ->add_option("--onInvalid", o->on_invalid,
                   "What to do at the start where a manifest or a file of the mesh's settings has mistakes: "
                   "serve what is good, or refuse, that is, exit with status 1")
      ->check(CLI::IsMember({"serve", "refuse"}))
      ->capture_default_str();
  command
      ->add_option(
          "--onUnsupported", o->on_unsupported,
          "What to do at the start where a manifest has a kind or field that this version accepts and "
          "does not act on: warn, or refuse, that is, exit with status 1")
      ->check(CLI::IsMember({"warn", "refuse"}))
      ->capture_default_str();
  command
      ->add_option("--onInvalidPolicy", o->on_invalid_policy,
                   "What to do about a policy of security.istio.io that cannot be read and has no earlier version: "
                   "wait, that is, not to be ready at the start until it is mended, serve without it, or deny all "
                   "requests to its workloads until it is mended")
      ->check(CLI::IsMember({"wait", "serve", "deny"}))
      ->capture_default_str();
  command
      ->add_option("--onEmptied", o->on_emptied,
                   "What to do where nothing is left in --configDir: keep the objects that it had until it has "
                   "manifests again, or serve a mesh without objects")
      ->check(CLI::IsMember({"keep", "serve"}))
      ->capture_default_str();
  command->add_option("--statusDir", o->status_dir,
                      "folder to write the statuses of Gateway API objects, Ingresses and ServiceEntries to");
  command
      ->add_option(
          "--gatewayAddress", o->gateway_addresses,
          "GATEWAY.NAMESPACE=ADDRESS: where the proxy of a Gateway of the Gateway API runs that has no "
          "Pod in the manifests; may be given often")
      ->allow_extra_args(false)
      ->check(CLI::Validator(CheckGatewayAddress, ""));
  auto* out = command->add_option("--xdsOutDir", o->xds_out_dir,
                                  "Folder to write each node's resources to, for Envoys that read files");
  auto* nodes = command->add_option("--xdsOutNodes", o->xds_out_nodes,
                                    "File or folder of the nodes that files are written for: JSON or YAML as "
                                    "in Envoy's bootstrap; watched");
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
  command->add_option("--monitoringAddr", o->monitoring_addr, "HTTP: /metrics and /version; empty: off")
      ->capture_default_str();

  command
      ->add_option("--keepaliveInterval", o->keepalive_interval,
                   "Time without activity before a peer is pinged")
      ->check(duration)
      ->capture_default_str();
  command
      ->add_option("--keepaliveTimeout", o->keepalive_timeout,
                   "Time for a ping's answer before a peer is given up")
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
