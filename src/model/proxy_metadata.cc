#include <algorithm>
#include <cmath>
#include <variant>

#include "base/go_bool.h"
#include "base/strings.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "model/duration_texts.h"
#include "model/proxy.h"

namespace fairlead::model {
namespace {

using google::protobuf::Value;
using M = ProxyMetadata;

// One key of the metadata and the member that it fills; the member's type says how the value is written.
struct Field {
  std::string_view key;
  std::variant<std::string M::*, LabelMap M::*, std::vector<std::string> M::*, bool M::*,
               std::optional<bool> M::*, int M::*>
      member;
};

const Field kFields[] = {
    {"ISTIO_VERSION", &M::istio_version},
    {"ISTIO_REVISION", &M::istio_revision},
    {"MESH_ID", &M::mesh_id},
    {"CLUSTER_ID", &M::cluster_id},
    {"NETWORK", &M::network},
    {"NAMESPACE", &M::ns},
    {"NODE_NAME", &M::node_name},
    {"WORKLOAD_NAME", &M::workload_name},
    {"SERVICE_ACCOUNT", &M::service_account},
    {"GENERATOR", &M::generator},
    {"HTTP_PROXY_PORT", &M::http_proxy_port},
    {"IDLE_TIMEOUT", &M::idle_timeout},
    {"DNS_PROXY_ADDR", &M::dns_proxy_addr},
    {"AUTO_REGISTER_GROUP", &M::auto_register_group},
    {"WORKLOAD_ENTRY", &M::workload_entry},
    {"UNPRIVILEGED_POD", &M::unprivileged_pod},
    {"STS_PORT", &M::sts_port},
    {"BASE", &M::cert_base_dir},
    {"WORKLOAD_IDENTITY_SOCKET_FILE", &M::workload_identity_socket_file},
    {"CLOUDRUN_ADDR", &M::cloudrun_addr},
    {"TLS_SERVER_CERT_CHAIN", &M::tls_server_cert_chain},
    {"TLS_SERVER_KEY", &M::tls_server_key},
    {"TLS_SERVER_ROOT_CERT", &M::tls_server_root_cert},
    {"TLS_CLIENT_CERT_CHAIN", &M::tls_client_cert_chain},
    {"TLS_CLIENT_KEY", &M::tls_client_key},
    {"TLS_CLIENT_ROOT_CERT", &M::tls_client_root_cert},
    {"LABELS", &M::labels},
    {"STATIC_LABELS", &M::static_labels},
    {"PLATFORM_METADATA", &M::platform_metadata},
    {"INSTANCE_IPS", &M::instance_ips},
    {"REQUESTED_NETWORK_VIEW", &M::requested_network_view},
    {"DNS_CAPTURE", &M::dns_capture},
    {"DNS_AUTO_ALLOCATE", &M::dns_auto_allocate},
    {"ENABLE_SELF_DISCOVERY", &M::enable_self_discovery},
    {"ENABLE_HBONE", &M::enable_hbone},
    {"DISABLE_HBONE_SEND", &M::disable_hbone_send},
    {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS", &M::exit_on_zero_active_connections},
    {"INBOUND_LISTENER_EXACT_BALANCE", &M::inbound_exact_balance},
    {"OUTBOUND_LISTENER_EXACT_BALANCE", &M::outbound_exact_balance},
    {"METADATA_DISCOVERY", &M::metadata_discovery},
    {"ENVOY_STATUS_PORT", &M::envoy_status_port},
    {"ENVOY_PROMETHEUS_PORT", &M::envoy_prometheus_port},
    {"ENVOY_SECURE_METRICS_PORT", &M::envoy_secure_metrics_port},
    {"ENVOY_SECURE_MERGED_METRICS_PORT", &M::envoy_secure_merged_metrics_port},
};

// Keys that ProxyMetadata does not name and whose texts reach resources.
constexpr std::string_view kRawKeys[] = {"FAIRLEAD_XDS_CLUSTER"};
// The one annotation whose text does.
constexpr std::string_view kServiceNameAnnotation = "resource.opentelemetry.io/service.name";

absl::Status WrongType(std::string_view key, std::string_view expected) {
  return absl::InvalidArgumentError(StrCat("node metadata ", key, ": expected ", expected));
}

absl::Status CheckSize(std::string_view key, size_t size, size_t most) {
  if (size <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("node metadata ", key, ": ", size, " bytes, of at most ", most));
}

absl::Status CheckText(std::string_view key, std::string_view text, size_t most) {
  return CheckSize(key, text.size(), most);
}

absl::Status CheckEntries(std::string_view key, size_t count, const NodeLimits& limits) {
  if (count <= limits.entries) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("node metadata ", key, ": ", count, " entries, of at most ", limits.entries));
}

absl::Status Read(std::string_view key, const Value& value, const NodeLimits& limits, std::string& out) {
  if (!value.has_string_value()) return WrongType(key, "a string");
  out = value.string_value();
  return CheckText(key, out, limits.text);
}

bool IsTextOrNull(const Value& value) { return value.has_null_value() || value.has_string_value(); }

absl::Status Read(std::string_view key, const Value& value, const NodeLimits& limits, LabelMap& out) {
  if (!value.has_struct_value()) return WrongType(key, "an object of strings");
  const auto& fields = value.struct_value().fields();
  absl::Status status = CheckEntries(key, fields.size(), limits);
  for (const auto& [name, item] : fields) {
    if (!IsTextOrNull(item)) return WrongType(key, "an object of strings");
    status.Update(CheckText(key, name, limits.text));
    status.Update(CheckText(key, item.string_value(), limits.text));
    if (!status.ok()) return status;
    out[name] = item.string_value();
  }
  return status;
}

// A list is one string with commas.
absl::Status Read(std::string_view key, const Value& value, const NodeLimits& limits,
                  std::vector<std::string>& out) {
  if (!value.has_string_value()) return WrongType(key, "a comma-separated string");
  const std::string& text = value.string_value();
  if (text.empty()) return absl::OkStatus();
  const auto commas = static_cast<size_t>(std::count(text.begin(), text.end(), ','));
  if (absl::Status status = CheckEntries(key, commas + 1, limits); !status.ok()) return status;
  for (std::string_view piece : Split(text, ',')) {
    if (absl::Status status = CheckText(key, piece, limits.text); !status.ok()) return status;
    out.emplace_back(piece);
  }
  return absl::OkStatus();
}

// A boolean is a string, in any of the spellings that Go's strconv.ParseBool takes.
absl::Status Read(std::string_view key, const Value& value, const NodeLimits& /*limits*/, bool& out) {
  if (value.has_string_value()) {
    if (const auto parsed = ParseGoBool(value.string_value())) return out = *parsed, absl::OkStatus();
  }
  return WrongType(key, "\"true\" or \"false\"");
}

absl::Status Read(std::string_view key, const Value& value, const NodeLimits& limits,
                  std::optional<bool>& out) {
  bool read = false;
  if (absl::Status status = Read(key, value, limits, read); !status.ok()) return status;
  out = read;
  return absl::OkStatus();
}

absl::Status Read(std::string_view key, const Value& value, const NodeLimits& /*limits*/, int& out) {
  constexpr double kLimit = 1e9;
  const double number = value.number_value();
  if (!value.has_number_value() || number != std::floor(number) || std::abs(number) > kLimit) {
    return WrongType(key, "an integer");
  }
  out = static_cast<int>(number);
  return absl::OkStatus();
}

constexpr size_t kPortText = 64;

// What is no port counts as none.
int PortNumber(double number) { return number >= 0 && number <= 65535 ? static_cast<int>(number) : 0; }

// POD_PORTS is a JSON array inside a string:
// "[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"}]".
absl::Status ReadPodPorts(const Value& value, const NodeLimits& limits, std::vector<PodPort>& out) {
  // Before it is parsed: a port is written in 60 bytes or so.
  absl::Status status = CheckText("POD_PORTS", value.string_value(), limits.entries * kPortText);
  if (!status.ok()) return status;
  google::protobuf::ListValue list;
  if (!value.has_string_value() ||
      !google::protobuf::util::JsonStringToMessage(value.string_value(), &list).ok()) {
    return WrongType("POD_PORTS", "a JSON array in a string");
  }
  status.Update(CheckEntries("POD_PORTS", static_cast<size_t>(list.values_size()), limits));
  for (const Value& item : list.values()) {
    if (!status.ok()) return status;
    PodPort port;
    for (const auto& [key, field] : item.struct_value().fields()) {
      if (key == "name") port.name = field.string_value();
      if (key == "containerPort") port.container_port = PortNumber(field.number_value());
      if (key == "protocol") port.protocol = field.string_value();
    }
    status.Update(CheckText("POD_PORTS", port.name, limits.text));
    status.Update(CheckText("POD_PORTS", port.protocol, limits.text));
    out.push_back(std::move(port));
  }
  return status;
}

// Keys and texts at any depth of a value.
absl::Status CheckTexts(std::string_view key, const Value& value, const NodeLimits& limits) {
  absl::Status status = CheckText(key, value.string_value(), limits.text);
  for (const auto& [name, item] : value.struct_value().fields()) {
    status.Update(CheckText(key, name, limits.text));
    status.Update(CheckTexts(key, item, limits));
  }
  status.Update(CheckEntries(key, value.struct_value().fields().size(), limits));
  status.Update(CheckEntries(key, static_cast<size_t>(value.list_value().values_size()), limits));
  for (const Value& item : value.list_value().values()) status.Update(CheckTexts(key, item, limits));
  return status;
}

// All of PROXY_CONFIG has room for so many of the longest texts: parts of it are in each HTTP listener.
constexpr size_t kProxyConfigTexts = 8;

// PROXY_CONFIG is the ProxyConfig message as JSON, durations in Go's form too; fields that a newer proxy
// knows and we don't are left out.
absl::Status ReadProxyConfig(const Value& value, const NodeLimits& limits, M& out) {
  const size_t most = limits.text * kProxyConfigTexts;
  absl::Status status = CheckTexts("PROXY_CONFIG", value, limits);
  status.Update(CheckSize("PROXY_CONFIG", value.ByteSizeLong(), most));
  if (!status.ok()) return status;
  std::string json;
  google::protobuf::Struct written = value.struct_value();
  RewriteGoDurations(*istio::mesh::v1alpha1::ProxyConfig::descriptor(), &written);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  if (!value.has_struct_value() || !google::protobuf::util::MessageToJsonString(written, &json).ok() ||
      !google::protobuf::util::JsonStringToMessage(json, config.get(), options).ok()) {
    return WrongType("PROXY_CONFIG", "a ProxyConfig");
  }
  out.proxy_config = std::move(config);
  return absl::OkStatus();
}

InterceptionMode ParseInterceptionMode(std::string_view text) {
  if (text == "REDIRECT") return InterceptionMode::kRedirect;
  if (text == "TPROXY") return InterceptionMode::kTproxy;
  if (text == "NONE") return InterceptionMode::kNone;
  return InterceptionMode::kUnset;
}

const Value* Find(const google::protobuf::Struct& metadata, std::string_view key) {
  const auto it = metadata.fields().find(std::string(key));
  return it == metadata.fields().end() || it->second.has_null_value() ? nullptr : &it->second;
}

absl::Status ReadSpecial(const google::protobuf::Struct& metadata, const NodeLimits& limits, M& out) {
  absl::Status status;
  std::string text;
  if (const Value* value = Find(metadata, "INTERCEPTION_MODE")) {
    status.Update(Read("INTERCEPTION_MODE", *value, limits, text));
    out.interception_mode = ParseInterceptionMode(text);
  }
  if (const Value* value = Find(metadata, "HTTP10")) {
    status.Update(Read("HTTP10", *value, limits, text));
    out.http10 = text == "1";
  }
  if (const Value* value = Find(metadata, "POD_PORTS"))
    status.Update(ReadPodPorts(*value, limits, out.pod_ports));
  if (const Value* value = Find(metadata, "PROXY_CONFIG"))
    status.Update(ReadProxyConfig(*value, limits, out));
  return status;
}

// What is read where it is needed, from the metadata as it came.
absl::Status CheckRaw(const google::protobuf::Struct& metadata, const NodeLimits& limits) {
  for (const std::string_view key : kRawKeys) {
    const Value* value = Find(metadata, key);
    if (value == nullptr) continue;
    if (absl::Status status = CheckText(key, value->string_value(), limits.text); !status.ok()) return status;
  }
  const Value* annotations = Find(metadata, "ANNOTATIONS");
  if (annotations == nullptr) return absl::OkStatus();
  const auto& fields = annotations->struct_value().fields();
  if (!annotations->has_struct_value() || !std::all_of(fields.begin(), fields.end(), [](const auto& field) {
        return IsTextOrNull(field.second);
      })) {
    return WrongType("ANNOTATIONS", "an object of strings");
  }
  const auto service = fields.find(std::string(kServiceNameAnnotation));
  if (service == fields.end()) return absl::OkStatus();
  return CheckText(kServiceNameAnnotation, service->second.string_value(), limits.text);
}

}  // namespace

absl::StatusOr<ProxyMetadata> ParseProxyMetadata(const google::protobuf::Struct& metadata,
                                                 const NodeLimits& limits) {
  ProxyMetadata out;
  for (const Field& field : kFields) {
    const Value* value = Find(metadata, field.key);
    if (value == nullptr) continue;
    absl::Status status =
        std::visit([&](auto member) { return Read(field.key, *value, limits, out.*member); }, field.member);
    if (!status.ok()) return status;
  }
  absl::Status status = ReadSpecial(metadata, limits, out);
  status.Update(CheckRaw(metadata, limits));
  if (!status.ok()) return status;
  out.raw = std::make_shared<const RawMetadata>(metadata);
  return out;
}

std::optional<std::string_view> RawText(const ProxyMetadata& metadata, std::string_view key) {
  if (metadata.raw == nullptr) return std::nullopt;
  return metadata.raw->Text(key);
}

std::optional<std::string_view> RawEntry(const ProxyMetadata& metadata, std::string_view object,
                                         std::string_view key) {
  if (metadata.raw == nullptr) return std::nullopt;
  return metadata.raw->Text(object, key);
}

}  // namespace fairlead::model
