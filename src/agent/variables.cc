#include "agent/variables.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "agent/module_sources.h"
#include "agent/variable_values.h"
#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using absl::InvalidArgumentError;

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// Variables with a default, which counts where one cannot be read.
class Settings {
 public:
  Settings(const Environment& environment, Options* options) : environment_(environment), options_(options) {}

  void Text(std::string_view name, std::string Options::*member) {
    if (std::string text = ValueOf(environment_, name); !text.empty()) options_->*member = std::move(text);
  }
  void Switch(std::string_view name, bool Options::*member) {
    const std::string text = ValueOf(environment_, name);
    if (text.empty()) return;
    const auto parsed = ParseGoBool(text);
    if (parsed) options_->*member = *parsed;
    if (!parsed) Remark(StrCat(name, ": '", text, "' is neither true nor false"));
  }
  void Number(std::string_view name, int Options::*member) {
    const std::string text = ValueOf(environment_, name);
    int number = 0;
    if (text.empty()) return;
    const absl::Status status = ReadInt(name, text, &number);
    if (status.ok()) options_->*member = number;
    if (!status.ok()) Remark(status.message());
  }
  void Duration(std::string_view name, std::chrono::milliseconds Options::*member) {
    const std::string text = ValueOf(environment_, name);
    std::chrono::milliseconds duration{};
    if (text.empty()) return;
    const absl::Status status = ReadMilliseconds(name, text, &duration);
    if (status.ok()) options_->*member = duration;
    if (!status.ok()) Remark(status.message());
  }

 private:
  void Remark(absl::string_view why) {
    options_->remarks.push_back(StrCat(FromAbsl(why), "; the default counts"));
  }
  const Environment& environment_;
  Options* const options_;
};

absl::Status ReadLimits(const Environment& environment, wasm::ModuleCache::Options* modules) {
  absl::Status status;
  const auto duration = [&](std::string_view name, std::chrono::milliseconds* out) {
    const std::string text = ValueOf(environment, name);
    if (status.ok() && !text.empty()) status = ReadMilliseconds(name, text, out);
  };
  const auto number = [&](std::string_view name, int* out) {
    const std::string text = ValueOf(environment, name);
    if (status.ok() && !text.empty()) status = ReadInt(name, text, out);
    if (status.ok() && *out <= 0)
      status = InvalidArgumentError(StrCat(name, ": '", text, "' is not positive"));
  };
  duration("WASM_MODULE_EXPIRY", &modules->expiry);
  duration("WASM_PURGE_INTERVAL", &modules->purge_interval);
  duration("WASM_HTTP_REQUEST_TIMEOUT", &modules->download.timeout);
  number("WASM_HTTP_REQUEST_MAX_RETRIES", &modules->download.attempts);
  int most = static_cast<int>(modules->download.most_bytes);
  number("ISTIO_WASM_MAX_BINARY_SIZE_BYTES", &most);
  modules->download.most_bytes = static_cast<size_t>(std::max(most, 0));
  return status;
}

// Istio's variables of Wasm modules.
absl::Status ReadModules(const Environment& environment, Options* options) {
  if (const std::string text = ValueOf(environment, "ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION");
      !text.empty()) {
    const auto parsed = ParseGoBool(text);
    if (!parsed)
      return InvalidArgumentError(
          StrCat("ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION: '", text, "' is neither true nor false"));
    options->fetch_modules = *parsed;
  }
  wasm::DownloadOptions& download = options->modules.download;
  options->modules.folder = ValueOf(environment, "FAIRLEAD_WASM_DIR", "./var/lib/istio/data");
  const std::string insecure = ValueOf(environment, "WASM_INSECURE_REGISTRIES");
  for (const std::string_view host : Split(insecure, ',')) {
    if (!Trim(host).empty()) download.insecure.emplace(Trim(host));
  }
  std::string folder = ValueOf(environment, "DOCKER_CONFIG");
  if (const std::string home = ValueOf(environment, "HOME"); folder.empty() && !home.empty())
    folder = StrCat(home, "/.docker");
  if (!folder.empty()) download.docker_config = StrCat(folder, "/config.json");
  ModuleSources sources;
  const std::string ranges = ValueOf(environment, "BLOCKED_CIDRS_IN_WASM_FETCH");
  for (const std::string_view text : Split(ranges, ',')) {
    if (Trim(text).empty()) continue;
    const auto range = IpPrefix::Parse(Trim(text));
    if (!range)
      return InvalidArgumentError(
          StrCat("BLOCKED_CIDRS_IN_WASM_FETCH: '", text, "' is no range of addresses"));
    sources.blocked.push_back(*range);
  }
  sources.own_ports = {options->admin_port, options->prometheus_port, options->status_port,
                       options->envoy_status_port};
  sources.planes = {options->discovery_address, options->ca_address};
  download.blocked = BlockedSources(sources);
  return ReadLimits(environment, &options->modules);
}

// A variable without meaning here that somebody has set to something.
void RemarkIdle(const Environment& environment, Options* options) {
  for (const AgentVariable& variable : AgentVariables()) {
    const std::string value = ValueOf(environment, variable.name);
    if (!variable.meaning.starts_with(kIdleVariable) || value.empty() || value == variable.fallback) continue;
    options->remarks.push_back(StrCat(variable.name, ": ", variable.meaning));
  }
}

}  // namespace

absl::Status ReadVariables(const Environment& environment, Options* options) {
  options->pod_name = ValueOf(environment, "POD_NAME", HostName());
  options->pod_namespace = ValueOf(environment, "POD_NAMESPACE", "default");
  Settings settings(environment, options);
  settings.Text("DNS_PROXY_ADDR", &Options::dns_address);
  settings.Switch("DNS_FORWARD_PARALLEL", &Options::dns_parallel);
  settings.Duration("DNS_FORWARD_TIMEOUT", &Options::dns_timeout);
  settings.Text("HOST_IP", &Options::host_ip);
  settings.Text("INSTANCE_IP", &Options::instance_ip);
  settings.Text("ISTIO_KUBE_APP_PROBERS", &Options::app_probers);
  settings.Text("ISTIO_PROMETHEUS_ANNOTATIONS", &Options::scrape_targets);
  settings.Switch("REWRITE_PROBE_LEGACY_LOCALHOST_DESTINATION", &Options::probe_localhost);
  settings.Switch("ISTIO_ENABLE_HTTP2_PROBING", &Options::http2_probes);
  settings.Switch("PILOT_AGENT_MERGE_ENVOY_STATS", &Options::merge_envoy_metrics);
  settings.Switch("METRICS_LOCALHOST_ACCESS_ONLY", &Options::metrics_for_localhost);
  settings.Text("OUTPUT_CERTS", &Options::certificate_folder);
  settings.Text("ISTIO_BOOTSTRAP_OVERRIDE", &Options::bootstrap_override);
  settings.Text("COMPLIANCE_POLICY", &Options::compliance);
  settings.Text("WORKLOAD_IDENTITY_SOCKET_FILE", &Options::socket_name);
  settings.Number("ENVOY_STATUS_PORT", &Options::envoy_status_port);
  settings.Number("ENVOY_PROMETHEUS_PORT", &Options::prometheus_port);
  settings.Number("ENVOY_SECURE_METRICS_PORT", &Options::secure_metrics_port);
  settings.Number("ENVOY_SECURE_MERGED_METRICS_PORT", &Options::secure_merged_metrics_port);
  settings.Number("ISTIO_CPU_LIMIT", &Options::cpu_limit);
  settings.Switch("ISTIO_DELTA_XDS", &Options::delta);
  settings.Switch("ISTIO_DUAL_STACK", &Options::dual_stack);
  settings.Switch("ISTIO_ENVOY_ENABLE_CORE_DUMP", &Options::core_dump);
  settings.Switch("ENVOY_SKIP_DEPRECATED_LOGS", &Options::skip_deprecated_logs);
  settings.Switch("ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL", &Options::status_proxy_protocol);
  settings.Switch("HTTP_STRIP_FRAGMENT_FROM_PATH_UNSAFE_IF_DISABLED", &Options::rejects_fragments);
  settings.Switch("EXIT_ON_ZERO_ACTIVE_CONNECTIONS", &Options::exit_on_zero_active_connections);
  settings.Duration("MINIMUM_DRAIN_DURATION", &Options::minimum_drain_duration);
  if (options->dns_timeout <= std::chrono::milliseconds(0)) {
    options->remarks.push_back("DNS_FORWARD_TIMEOUT: it is not positive; the default counts");
    options->dns_timeout = Options().dns_timeout;
  }
  if (const auto discovery = environment.find("PEER_METADATA_DISCOVERY"); discovery != environment.end())
    options->peer_discovery = ParseGoBool(discovery->second).value_or(false);
  settings.Switch("DISABLE_ENVOY", &Options::disable_envoy);
  if (const auto file = environment.find("GRPC_XDS_BOOTSTRAP"); file != environment.end()) {
    options->grpc_bootstrap = file->second;
    options->own_grpc_bootstrap = true;
  }
  RemarkIdle(environment, options);
  if (options->socket_name.find('/') != std::string::npos)
    return InvalidArgumentError(
        StrCat("WORKLOAD_IDENTITY_SOCKET_FILE: '", options->socket_name, "' is a path, not a file's name"));
  options->secret_socket = StrCat("./var/run/secrets/workload-spiffe-uds/", options->socket_name);
  return absl::OkStatus();
}

absl::Status ReadSecurityVariables(const Environment& environment, Options* options) {
  absl::Status status = ReadCertificateVariables(environment, options);
  return status.ok() ? ReadModules(environment, options) : status;
}

}  // namespace fairlead::agent
