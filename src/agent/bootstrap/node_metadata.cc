#include "agent/bootstrap/node_metadata.h"

#include <algorithm>

#include "agent/bootstrap/workload_addresses.h"
#include "base/go_bool.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr char kIstioVersion[] = "1.32.0";
constexpr std::string_view kPrefix = "ISTIO_META_", kJsonPrefix = "ISTIO_METAJSON_";
constexpr char kLocalityLabel[] = "istio-locality", kTopologyLabel[] = "topology.istio.io/locality";

// Keys whose texts are booleans; a control plane reads "true" alone.
constexpr std::string_view kBooleans[] = {
    "DISABLE_HBONE_SEND",
    "DNS_AUTO_ALLOCATE",
    "DNS_CAPTURE",
    "ENABLE_HBONE",
    "ENABLE_SELF_DISCOVERY",
    "ENVOY_SKIP_DEPRECATED_LOGS",
    "EXIT_ON_ZERO_ACTIVE_CONNECTIONS",
    "INBOUND_LISTENER_EXACT_BALANCE",
    "OUTBOUND_LISTENER_EXACT_BALANCE",
};
// Other texts that a control plane knows. Keys are known in any spelling of case.
constexpr std::string_view kTexts[] = {
    "APP_CONTAINERS",
    "AUTO_REGISTER_GROUP",
    "BASE",
    "CLOUDRUN_ADDR",
    "CLUSTER_ID",
    "DNS_PROXY_ADDR",
    "GENERATOR",
    "HTTP10",
    "HTTP_PROXY_PORT",
    "IDLE_TIMEOUT",
    "INTERCEPTION_MODE",
    "ISTIO_PROXY_SHA",
    "ISTIO_REVISION",
    "ISTIO_VERSION",
    "MESH_ID",
    "NAME",
    "NAMESPACE",
    "NETWORK",
    "NODE_NAME",
    "OUTLIER_LOG_PATH",
    "OWNER",
    "REQUESTED_NETWORK_VIEW",
    "SERVICE_ACCOUNT",
    "STS_PORT",
    "TLS_CLIENT_CERT_CHAIN",
    "TLS_CLIENT_KEY",
    "TLS_CLIENT_ROOT_CERT",
    "TLS_SERVER_CERT_CHAIN",
    "TLS_SERVER_KEY",
    "TLS_SERVER_ROOT_CERT",
    "UNPRIVILEGED_POD",
    "WORKLOAD_ENTRY",
    "WORKLOAD_NAME",
};

template <typename List>
bool Has(const List& list, std::string_view one) {
  return std::find(std::begin(list), std::end(list), one) != std::end(list);
}

std::string Value(const Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

// All that is told as it was written.
json Written(const Environment& environment, Options* options) {
  json all = json::object();
  const json own = options->proxy_config.value("proxyMetadata", json::object());
  for (const auto& [name, value] : own.items()) {
    if (name.starts_with(kPrefix)) all[name.substr(kPrefix.size())] = value;
  }
  for (const auto& [name, value] : environment) {
    if (name.starts_with(kPrefix)) all[name.substr(kPrefix.size())] = value;
  }
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kJsonPrefix)) continue;
    const json members = ParseJson(value).value_or(json());
    if (members.is_object()) {
      all.update(members);
    } else if (!ParseJson(value) || !members.is_null()) {
      options->remarks.push_back(StrCat(name, ": not a JSON object, passed over"));
    }
  }
  if (const std::string address = Value(environment, "DNS_PROXY_ADDR"); !address.empty())
    all["DNS_PROXY_ADDR"] = address;
  return all;
}

// A pod's ports without what is not known of a port; none where the text is no list of ports.
std::optional<std::string> PodPorts(const std::string& text) {
  const auto ports = ParseJson(text);
  if (!ports || !ports->is_array()) return std::nullopt;
  nlohmann::ordered_json kept = nlohmann::ordered_json::array();
  for (const json& port : *ports) {
    if (!port.is_object()) return std::nullopt;
    nlohmann::ordered_json one;
    if (const std::string name = JsonString(port, "name"); !name.empty()) one["name"] = name;
    const auto number = port.find("containerPort");
    if (number != port.end() && !number->is_number_integer()) return std::nullopt;
    one["containerPort"] = number == port.end() ? 0 : number->get<int64_t>();
    one["protocol"] = JsonString(port, "protocol");
    kept.push_back(std::move(one));
  }
  return kept.empty() ? text : JsonText(kept);
}

// Puts known keys into the spelling and form that a control plane reads.
absl::Status Normalize(json* metadata, Options* options) {
  const json written = *metadata;
  for (const auto& [key, value] : written.items()) {
    const std::string known = AsciiUpper(key);
    if (!value.is_string()) continue;  // told as it is
    const auto text = value.get<std::string>();
    if (Has(kBooleans, known)) {
      const auto parsed = ParseGoBool(text);
      if (!parsed && key == known)
        return absl::InvalidArgumentError(StrCat(kPrefix, key, ": '", text, "' is neither true nor false"));
      if (parsed.value_or(false)) (*metadata)[known] = "true";
    } else if (Has(kTexts, known)) {
      if (!text.empty()) (*metadata)[known] = text;
    } else if (key == "POD_PORTS") {
      if (const auto ports = PodPorts(text)) {
        (*metadata)[key] = *ports;
      } else {
        options->remarks.push_back(StrCat(kPrefix, key, ": not a JSON list of ports"));
      }
    }
  }
  return absl::OkStatus();
}

// The labels of the environment that are texts.
std::map<std::string, std::string> StaticLabels(const Environment& environment) {
  std::map<std::string, std::string> labels;
  const json members = ParseJson(Value(environment, "ISTIO_METAJSON_LABELS")).value_or(json());
  if (!members.is_object()) return labels;
  for (const auto& [key, value] : members.items()) {
    if (value.is_string()) labels[key] = value.get<std::string>();
  }
  return labels;
}

// Dots stand for slashes, which labels cannot hold.
std::string LocalityOf(const std::map<std::string, std::string>& labels) {
  for (const char* key : {kTopologyLabel, kLocalityLabel}) {
    const auto found = labels.find(key);
    if (found == labels.end()) continue;
    return found->second.find('/') == std::string::npos ? ReplaceAll(found->second, ".", "/") : found->second;
  }
  return "";
}

void FillLabels(const Environment& environment, const std::optional<std::map<std::string, std::string>>& pod,
                const Platform& platform, Options* options) {
  std::map<std::string, std::string> fixed = StaticLabels(environment), labels = fixed;
  if (pod) {
    for (const auto& [key, value] : *pod) {
      if (key != "pod-template-hash") labels[key] = value;
    }
  }
  options->locality = LocalityOf(labels);
  const bool said = labels.contains(kTopologyLabel) || labels.contains(kLocalityLabel);
  if (!options->locality.empty()) {
    labels[kLocalityLabel] = options->locality;
    if (!pod) fixed[kLocalityLabel] = options->locality;
  }
  if (!said) options->locality = platform.locality;
  if (!labels.empty()) options->metadata["LABELS"] = labels;
  if (!fixed.empty()) options->metadata["STATIC_LABELS"] = fixed;
}

void FillAnnotations(Options* options) {
  if (options->annotations.empty()) return;
  json& told = options->metadata["ANNOTATIONS"];
  if (!told.is_object()) told = json::object();
  for (const auto& [key, value] : options->annotations) told[key] = value;
}

// What the agent knows itself.
void FillFacts(const Environment& environment, const Platform& platform, Options* options) {
  json& metadata = options->metadata;
  const auto set = [&metadata](const char* key, const std::string& text) {
    if (!text.empty()) metadata[key] = text;
  };
  const auto set_if_absent = [&metadata](const char* key, const std::string& text) {
    if (JsonString(metadata, key).empty()) metadata[key] = text;
  };
  set("NAME", Value(environment, "POD_NAME"));
  set("NAMESPACE", Value(environment, "POD_NAMESPACE"));
  set("SERVICE_ACCOUNT", Value(environment, "SERVICE_ACCOUNT"));
  // Without these a proxy is in no namespace and in another cluster than the control plane, and matches no
  // EnvoyFilter that names a version.
  set_if_absent("NAMESPACE", options->pod_namespace);
  set_if_absent("CLUSTER_ID", "Kubernetes");
  set_if_absent("ISTIO_VERSION", kIstioVersion);
  set("INSTANCE_IPS", Join(options->addresses, ","));
  if (options->sts_port != 0) metadata["STS_PORT"] = StrCat(options->sts_port);
  const auto port = [&metadata](const char* key, int number) {
    if (number != 0) metadata[key] = number;
  };
  port("ENVOY_STATUS_PORT", options->envoy_status_port);
  port("ENVOY_PROMETHEUS_PORT", options->prometheus_port);
  port("ENVOY_SECURE_METRICS_PORT", options->secure_metrics_port);
  port("ENVOY_SECURE_MERGED_METRICS_PORT", options->secure_merged_metrics_port);
  if (options->exit_on_zero_active_connections) metadata["EXIT_ON_ZERO_ACTIVE_CONNECTIONS"] = "true";
  if (options->skip_deprecated_logs) metadata["ENVOY_SKIP_DEPRECATED_LOGS"] = "true";
  set("WORKLOAD_IDENTITY_SOCKET_FILE", options->socket_name);
  set("OUTLIER_LOG_PATH", options->outlier_log_path);
  const bool discovers = options->peer_discovery.value_or(JsonString(metadata, "ENABLE_HBONE") == "true");
  metadata["METADATA_DISCOVERY"] = discovers ? "true" : "false";
  if (!platform.metadata.empty()) metadata["PLATFORM_METADATA"] = platform.metadata;
  metadata["PROXY_CONFIG"] = options->proxy_config;
  if (options->plaintext_discovery) return;
  std::string host = options->discovery_address.substr(0, options->discovery_address.find(':'));
  if (host == "localhost") host = "istiod.istio-system.svc";
  metadata["PILOT_SAN"] = json::array({host});
}

}  // namespace

std::string_view SupportedIstioVersion() { return kIstioVersion; }

absl::Status FillNodeMetadata(const Environment& environment,
                              const std::optional<std::map<std::string, std::string>>& labels,
                              const Platform& platform, Options* options) {
  options->metadata = Written(environment, options);
  if (absl::Status status = Normalize(&options->metadata, options); !status.ok()) return status;
  FillLabels(environment, labels, platform, options);
  FillAnnotations(options);
  FillFacts(environment, platform, options);
  return absl::OkStatus();
}

}  // namespace fairlead::agent
