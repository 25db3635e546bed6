#include "app/discovery_options.h"

#include <CLI/CLI.hpp>

#include "base/duration.h"

namespace fairlead::app {
namespace {

std::string CheckDuration(const std::string& text) {
  const auto duration = ParseGoDuration(text);
  return duration && duration->count() >= 0 ? "" : "\"" + text + "\" is no duration (10s, 1m30s, 500ms)";
}

}  // namespace

void AddDiscoveryFlags(DiscoveryOptions* o, CLI::App* command) {
  const CLI::Validator duration(CheckDuration, "DURATION");
  command->add_option("--configDir", o->config_dir, "Folder of manifests that is the mesh; watched");
  command
      ->add_option("--meshConfig", o->mesh_config,
                   "File of the MeshConfig; watched; without it the defaults hold")
      ->capture_default_str();
  command->add_option("--networksConfig", o->networks_config, "File of the MeshNetworks; watched")
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
  command->add_option("--log_output_level", o->log_output_level, "Log levels: LEVEL or SCOPE:LEVEL,…")
      ->capture_default_str();
  command->allow_extras();
}

}  // namespace fairlead::app
