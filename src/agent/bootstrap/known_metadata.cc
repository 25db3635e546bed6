#include "agent/bootstrap/known_metadata.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/go_bool.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

enum class Kind {
  kBoolean,       // a text
  kMaybeBoolean,  // the same, or null
  kText,
  kNumber,  // whole; the agent's own counts
  kNames,   // a list of texts
  kLabels,  // an object of texts
  kPorts,   // a text: a list of ports in JSON
  kConfig,  // an object; the agent's own counts
};

struct Known {
  std::string_view key;
  Kind kind;
};
constexpr Known kKnown[] = {
    {"ANNOTATIONS", Kind::kLabels},
    {"APP_CONTAINERS", Kind::kText},
    {"AUTO_REGISTER_GROUP", Kind::kText},
    {"BASE", Kind::kText},
    {"CLOUDRUN_ADDR", Kind::kText},
    {"CLUSTER_ID", Kind::kText},
    {"DISABLE_HBONE_SEND", Kind::kBoolean},
    {"DNS_AUTO_ALLOCATE", Kind::kBoolean},
    {"DNS_CAPTURE", Kind::kBoolean},
    {"DNS_PROXY_ADDR", Kind::kText},
    {"ENABLE_HBONE", Kind::kBoolean},
    {"ENABLE_SELF_DISCOVERY", Kind::kBoolean},
    {"ENVOY_PROMETHEUS_PORT", Kind::kNumber},
    {"ENVOY_SECURE_MERGED_METRICS_PORT", Kind::kNumber},
    {"ENVOY_SECURE_METRICS_PORT", Kind::kNumber},
    {"ENVOY_SKIP_DEPRECATED_LOGS", Kind::kBoolean},
    {"ENVOY_STATUS_PORT", Kind::kNumber},
    {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS", Kind::kBoolean},
    {"GENERATOR", Kind::kText},
    {"HTTP10", Kind::kText},
    {"HTTP_PROXY_PORT", Kind::kText},
    {"IDLE_TIMEOUT", Kind::kText},
    {"INBOUND_LISTENER_EXACT_BALANCE", Kind::kBoolean},
    {"INSTANCE_IPS", Kind::kText},
    {"INTERCEPTION_MODE", Kind::kText},
    {"ISTIO_PROXY_SHA", Kind::kText},
    {"ISTIO_REVISION", Kind::kText},
    {"ISTIO_VERSION", Kind::kText},
    {"LABELS", Kind::kLabels},
    {"MESH_ID", Kind::kText},
    {"METADATA_DISCOVERY", Kind::kMaybeBoolean},
    {"NAME", Kind::kText},
    {"NAMESPACE", Kind::kText},
    {"NETWORK", Kind::kText},
    {"NODE_NAME", Kind::kText},
    {"OUTBOUND_LISTENER_EXACT_BALANCE", Kind::kBoolean},
    {"OUTLIER_LOG_PATH", Kind::kText},
    {"OWNER", Kind::kText},
    {"PILOT_SAN", Kind::kNames},
    {"PLATFORM_METADATA", Kind::kLabels},
    {"POD_PORTS", Kind::kPorts},
    {"PROXY_CONFIG", Kind::kConfig},
    {"REQUESTED_NETWORK_VIEW", Kind::kText},
    {"SERVICE_ACCOUNT", Kind::kText},
    {"STATIC_LABELS", Kind::kLabels},
    {"STS_PORT", Kind::kText},
    {"TLS_CLIENT_CERT_CHAIN", Kind::kText},
    {"TLS_CLIENT_KEY", Kind::kText},
    {"TLS_CLIENT_ROOT_CERT", Kind::kText},
    {"TLS_SERVER_CERT_CHAIN", Kind::kText},
    {"TLS_SERVER_KEY", Kind::kText},
    {"TLS_SERVER_ROOT_CERT", Kind::kText},
    {"UNPRIVILEGED_POD", Kind::kText},
    {"WORKLOAD_ENTRY", Kind::kText},
    {"WORKLOAD_IDENTITY_SOCKET_FILE", Kind::kText},
    {"WORKLOAD_NAME", Kind::kText},
};
static_assert(std::is_sorted(std::begin(kKnown), std::end(kKnown),
                             [](const Known& a, const Known& b) { return a.key < b.key; }));

const Known* FindKnown(const std::string& key) {
  const std::string upper = AsciiUpper(key);
  const auto found =
      std::lower_bound(std::begin(kKnown), std::end(kKnown), upper,
                       [](const Known& one, const std::string& name) { return one.key < name; });
  return found != std::end(kKnown) && found->key == upper ? found : nullptr;
}

bool IsText(const json& value) { return value.is_string() || value.is_null(); }

absl::Status Wrong(std::string_view why) { return absl::InvalidArgumentError(StrCat(why)); }

absl::StatusOr<json> ReadBoolean(const json& value) {
  const auto parsed = value.is_string() ? ParseGoBool(value.get<std::string>()) : std::nullopt;
  if (parsed) return json(*parsed ? "true" : "");
  const std::string said = value.is_string() ? value.get<std::string>() : JsonText(value);
  return Wrong(StrCat("'", said, "' is neither true nor false"));
}

absl::StatusOr<json> ReadLabels(const json& value) {
  json labels = json::object();
  if (value.is_null()) return labels;
  if (!value.is_object()) return Wrong("not an object of texts");
  for (const auto& [name, text] : value.items()) {
    if (!IsText(text)) return Wrong(StrCat("not an object of texts: ", name, " is none"));
    labels[name] = text.is_null() ? json("") : text;
  }
  return labels;
}

// One port in the form and order of Istio's.
std::optional<nlohmann::ordered_json> ReadPort(const json& port) {
  std::string name, protocol;
  int64_t number = 0;
  if (!port.is_object() && !port.is_null()) return std::nullopt;
  for (const auto& [key, value] : port.items()) {
    const std::string field = AsciiUpper(key);
    std::string* const text = field == "NAME" ? &name : field == "PROTOCOL" ? &protocol : nullptr;
    if (text != nullptr && !IsText(value)) return std::nullopt;
    if (text != nullptr && value.is_string()) *text = value.get<std::string>();
    if (field != "CONTAINERPORT" || value.is_null()) continue;
    if (!value.is_number_integer()) return std::nullopt;
    number = value.get<int64_t>();
  }
  nlohmann::ordered_json read;
  if (!name.empty()) read["name"] = name;
  read["containerPort"] = number;
  read["protocol"] = protocol;
  return read;
}

absl::StatusOr<json> ReadPorts(const json& value) {
  const auto ports = value.is_string() ? ParseJson(value.get<std::string>()) : std::nullopt;
  if (!ports || !(ports->is_array() || ports->is_null())) return Wrong("not a JSON list of ports");
  nlohmann::ordered_json read = nlohmann::ordered_json::array();
  for (const json& port : *ports) {
    auto one = ReadPort(port);
    if (!one) return Wrong("not a JSON list of ports");
    read.push_back(*std::move(one));
  }
  return json(read.empty() ? "" : JsonText(read));
}

// In the form that a control plane reads; "", null or an empty object: there is nothing to add.
absl::StatusOr<json> ReadKnown(Kind kind, const json& value) {
  switch (kind) {
    case Kind::kMaybeBoolean:
      if (value.is_null()) return json();
      return ReadBoolean(value);
    case Kind::kBoolean:
      return ReadBoolean(value);
    case Kind::kText:
      if (!IsText(value)) return Wrong("not a text");
      return value;
    case Kind::kNumber:
      if (!value.is_number_integer() && !value.is_null()) return Wrong("not a whole number");
      return json();
    case Kind::kNames:
      if (!value.is_null() && !(value.is_array() && std::all_of(value.begin(), value.end(), IsText)))
        return Wrong("not a list of texts");
      return json();
    case Kind::kLabels:
      return ReadLabels(value);
    case Kind::kPorts:
      return ReadPorts(value);
    case Kind::kConfig:
      if (!value.is_object() && !value.is_null()) return Wrong("not an object");
      return json();
  }
  return json();
}

}  // namespace

absl::Status AddKnownMetadata(json* metadata) {
  std::map<std::string_view, json> added;
  for (const auto& [key, value] : metadata->items()) {
    const Known* const known = FindKnown(key);
    if (known == nullptr) continue;
    auto read = ReadKnown(known->kind, value);
    if (!read.ok())
      return absl::InvalidArgumentError(StrCat("ISTIO_META_", key, ": ", FromAbsl(read.status().message())));
    if (!read->is_null()) added[known->key] = *std::move(read);
  }
  for (auto& [key, value] : added) {
    const bool empty = value.is_string() ? value.get<std::string>().empty() : value.empty();
    if (!empty) (*metadata)[std::string(key)] = std::move(value);
  }
  return absl::OkStatus();
}

}  // namespace fairlead::agent
