#include "app/istiod_variables.h"

#include <algorithm>
#include <iterator>

#include "app/environment.h"
#include "base/closest_name.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

constexpr auto kIdle = IstiodVariable::Fate::kIdle;
constexpr auto kRefused = IstiodVariable::Fate::kRefused;

constexpr IstiodVariable kVariables[] = {
    {"AMBIENT_ENABLE_BAGGAGE", "false", kIdle, "there is no ambient mode"},
    {"AMBIENT_ENABLE_DRY_RUN_AUTHORIZATION_POLICY", "false", kIdle, "there is no ambient mode"},
    {"AMBIENT_ENABLE_MULTI_NETWORK", "false", kRefused, "there is no ambient mode"},
    {"AMBIENT_ENABLE_MULTI_NETWORK_INGRESS", "true", kIdle, "there is no ambient mode"},
    {"AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT", "true", kIdle, "there is no ambient mode"},
    {"AMBIENT_ENABLE_STATUS", "false", kIdle, "there is no ambient mode"},
    {"AMBIENT_SCOPED_ADDRESS_PUSHES", "true", kIdle, "there is no ambient mode"},
    {"BLOCKED_CIDRS_IN_WASM_FETCH", "", kIdle, "the agent's"},
    {"DEBUG_ENDPOINT_AUTH_ALLOWED_NAMESPACES", "", kIdle, "pages are for clients on the same machine"},
    {"ENABLE_DEBUG_ENDPOINT_AUTH", "true", kIdle, "pages are for clients on the same machine"},
    {"ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT", "true", kRefused,
     "a Gateway with other addresses is never deployed"},
    {"ENABLE_INGRESS_WAYPOINT_ROUTING", "true", kIdle, "there is no ambient mode"},
    {"ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES", "false", kRefused, "there is no ambient mode"},
    {"ENABLE_LAZY_SIDECAR_EVALUATION", "true", kIdle, "scopes are made when they are used"},
    {"ENABLE_VTPROTOBUF", "true", kIdle, "how istiod encodes"},
    {"ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS", "false", kIdle, "there is no ambient mode"},
    {"ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL", "false", kIdle, "the agent's"},
    {"ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION", "true", kIdle, "the agent's"},
    {"ISTIO_DELTA_XDS", "true", kIdle, "proxies choose"},
    {"ISTIO_ENABLE_CONTROLLER_QUEUE_METRICS", "false", kIdle, "there are no such queues"},
    {"ISTIO_KUBE_CLIENT_CONTENT_TYPE", "protobuf", kIdle, "there is no Kubernetes client"},
    {"ISTIO_WASM_MAX_BINARY_SIZE_BYTES", "268435456", kIdle, "the agent's"},
    {"MUTEX_PROFILE_FRACTION", "1000", kIdle, "Go's"},
    {"PILOT_AGENT_MERGE_ENVOY_STATS", "true", kIdle, "the agent's"},
    {"PILOT_ANALYSIS_INTERVAL", "10s", kIdle, "diagnostics are always made"},
    {"PILOT_AUTO_ALLOW_WAYPOINT_POLICY", "false", kIdle, "there is no ambient mode"},
    {"PILOT_CERT_PROVIDER", "istiod", kIdle, "the TLS listener's certificate is this authority's or a file"},
    {"PILOT_CONVERT_SIDECAR_SCOPE_CONCURRENCY", "1", kIdle, "how istiod computes"},
    {"PILOT_CRL_CONFIGMAP", "istio-ca-crl", kIdle, "no Kubernetes API is written to"},
    {"PILOT_ENABLE_AGENTGATEWAY", "false", kRefused, "there is no agentgateway"},
    {"PILOT_ENABLE_ALPHA_GATEWAY_API", "false", kRefused, "alpha kinds have no effect"},
    {"PILOT_ENABLE_AMBIENT", "false", kRefused, "there is no ambient mode"},
    {"PILOT_ENABLE_AMBIENT_WAYPOINTS", "false", kRefused, "there is no ambient mode"},
    {"PILOT_ENABLE_ANALYSIS", "false", kIdle, "diagnostics are always made"},
    {"PILOT_ENABLE_CDS_CACHE", "true", kIdle, "caches need no settings"},
    {"PILOT_ENABLE_IP_AUTOALLOCATE", "true", kRefused,
     "addresses are those of statuses, and none are made of the hosts' names"},
    {"PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS", "false", kIdle, "no Kubernetes API is written to"},
    {"PILOT_ENABLE_RDS_CACHE", "true", kIdle, "caches need no settings"},
    {"PILOT_ENABLE_SENDING_HBONE", "false", kRefused, "there is no ambient mode"},
    {"PILOT_ENABLE_SIDECAR_LISTENING_HBONE", "false", kRefused, "there is no ambient mode"},
    {"PILOT_ENABLE_XDS_CACHE", "true", kIdle, "caches need no settings"},
    {"PILOT_ENVOY_FILTER_STATS", "false", kIdle, "the metric is always there"},
    {"PILOT_HBONE_INITIAL_CONNECTION_WINDOW_SIZE", "", kIdle, "there is no ambient mode"},
    {"PILOT_HBONE_INITIAL_STREAM_WINDOW_SIZE", "", kIdle, "there is no ambient mode"},
    {"PILOT_MULTICLUSTER_KUBECONFIG_PATH", "", kRefused, "kubeconfigs of other clusters are in Secrets"},
    {"PILOT_NODE_UNTAINT_CONTROLLERS_TAINT_NAME", "cni.istio.io/not-ready", kIdle, "nodes are not changed"},
    {"PILOT_PREFER_SENDING_HBONE", "false", kRefused, "there is no ambient mode"},
    {"PILOT_STATUS_MAX_WORKERS", "100", kIdle, "see --statusDir"},
    {"PILOT_UNIFIED_SIDECAR_SCOPE", "true", kIdle, "how istiod computes"},
    {"PILOT_XDS_CACHE_INDEX_CLEAR_INTERVAL", "5s", kIdle, "caches need no settings"},
    {"PILOT_XDS_CACHE_SIZE", "60000", kIdle, "caches need no settings"},
    {"PILOT_XDS_CACHE_STATS", "false", kIdle, "caches need no settings"},
    {"RESOLVE_HOSTNAME_GATEWAYS", "true", kRefused, "names of load balancers are not resolved here"},
    {"UNSAFE_ENABLE_ADMIN_ENDPOINTS", "false", kIdle, "there are no such pages"},
    {"UNSAFE_PILOT_ENABLE_RUNTIME_ASSERTIONS", "false", kIdle, "see FAIRLEAD_SHADOW"},
};

const IstiodVariable* Find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kVariables), std::end(kVariables),
                                   [name](const IstiodVariable& variable) { return variable.name == name; });
  return found == std::end(kVariables) ? nullptr : found;
}

bool IsHonoured(std::string_view name) {
  const auto& table = EnvironmentTable();
  return std::any_of(table.begin(), table.end(),
                     [name](const EnvironmentVariable& variable) { return variable.name == name; });
}

std::string Unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const EnvironmentVariable& variable : EnvironmentTable()) known.emplace_back(variable.name);
  for (const IstiodVariable& variable : kVariables) known.emplace_back(variable.name);
  const std::string meant = ClosestName(name, known);
  return StrCat(name, " is set, but neither istiod nor Fairlead has it",
                meant.empty() ? "" : StrCat("; did you mean ", meant, "?"));
}

}  // namespace

std::span<const IstiodVariable> IstiodVariables() { return kVariables; }

std::vector<std::string> RemarksOn(const std::vector<std::string>& settings) {
  std::vector<std::string> remarks, idle;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    const IstiodVariable* variable = Find(name);
    if (variable == nullptr) {
      const bool istios = name.starts_with("PILOT_") || name.starts_with("ISTIO_GPRC_");
      if (istios && !IsHonoured(name)) remarks.push_back(Unknown(name));
    } else if (value.empty() || AsciiLower(value) == AsciiLower(variable->fallback)) {
      continue;
    } else if (variable->fate == kIdle) {
      idle.push_back(name);
    } else {
      remarks.push_back(StrCat(setting, " is not honoured: ", variable->why));
    }
  }
  std::sort(remarks.begin(), remarks.end());
  std::sort(idle.begin(), idle.end());
  if (!idle.empty())
    remarks.push_back(StrCat("set, but without a meaning to this version: ", Join(idle, ", ")));
  return remarks;
}

}  // namespace fairlead::app
