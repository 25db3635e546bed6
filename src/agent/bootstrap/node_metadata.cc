#include "agent/bootstrap/node_metadata.h"

#include <cmath>

#include "agent/bootstrap/json_parts.h"
#include "agent/bootstrap/known_metadata.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

constexpr char kIstioVersion[] = "1.32.0";
constexpr std::string_view kPrefix = "ISTIO_META_", kJsonPrefix = "ISTIO_METAJSON_";
constexpr char kLocalityLabel[] = "istio-locality", kTopologyLabel[] = "topology.istio.io/locality";

std::string Value(const Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

// Numbers as JSON of Go has them: each is a double, and 1e3 and 1000.0 are written as 1000.
void WriteNumbersAsGo(json* value) {
  constexpr double kLeast = -0x1p63, kBeyond = 0x1p64;  // what 64 bits hold
  if (value->is_structured()) {
    for (json& part : *value) WriteNumbersAsGo(&part);
  } else if (value->is_number()) {
    const auto number = value->get<double>();
    if (std::trunc(number) != number || number < kLeast || number >= kBeyond) {
      *value = number;
    } else if (number < 0) {
      *value = static_cast<int64_t>(number);
    } else {
      *value = static_cast<uint64_t>(number);
    }
  }
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
    json members = ParseJson(value).value_or(json());
    if (members.is_object()) {
      WriteNumbersAsGo(&members);
      all.update(members);
    } else if (!ParseJson(value) || !members.is_null()) {
      options->remarks.push_back(StrCat(name, ": not a JSON object, passed over"));
    }
  }
  if (const std::string address = Value(environment, "DNS_PROXY_ADDR"); !address.empty())
    all["DNS_PROXY_ADDR"] = address;
  return all;
}

using Labels = std::map<std::string, std::string>;

// An object's members; those that are no texts are empty.
Labels LabelsIn(const json& members) {
  Labels labels;
  if (!members.is_object()) return labels;
  for (const auto& [key, value] : members.items())
    labels[key] = value.is_string() ? value.get<std::string>() : "";
  return labels;
}

// Dots stand for slashes, which labels cannot hold.
std::string LocalityOf(const Labels& labels) {
  for (const char* key : {kTopologyLabel, kLocalityLabel}) {
    const auto found = labels.find(key);
    if (found == labels.end()) continue;
    return found->second.find('/') == std::string::npos ? ReplaceAll(found->second, ".", "/") : found->second;
  }
  return "";
}

void FillLabels(const Environment& environment, const std::optional<Labels>& pod, const Platform& platform,
                Options* options) {
  json& metadata = options->metadata;
  Labels labels = LabelsIn(MemberAt(metadata, {"LABELS"})),
         fixed = LabelsIn(MemberAt(metadata, {"STATIC_LABELS"}));
  const Labels own = LabelsIn(ParseJson(Value(environment, "ISTIO_METAJSON_LABELS")).value_or(json()));
  if (!own.empty()) labels = fixed = own;
  if (pod) {
    labels = fixed;
    for (const auto& [key, value] : *pod) {
      if (key != "pod-template-hash") labels[key] = value;
    }
  }
  options->locality = LocalityOf(labels);
  if (!options->locality.empty()) {
    labels[kLocalityLabel] = options->locality;
    if (!pod && !own.empty()) fixed[kLocalityLabel] = options->locality;
  } else {
    options->locality = platform.locality;
  }
  if (!labels.empty()) metadata["LABELS"] = labels;
  if (!fixed.empty()) metadata["STATIC_LABELS"] = fixed;
}

// Those of the pod's file count more.
void FillAnnotations(Options* options) {
  options->annotations.merge(LabelsIn(MemberAt(options->metadata, {"ANNOTATIONS"})));
  if (!options->annotations.empty()) options->metadata["ANNOTATIONS"] = options->annotations;
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
  if (absl::Status status = AddKnownMetadata(&options->metadata); !status.ok()) return status;
  FillLabels(environment, labels, platform, options);
  FillAnnotations(options);
  FillFacts(environment, platform, options);
  return absl::OkStatus();
}

}  // namespace fairlead::agent
