#include <cmath>
#include <variant>

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
    {"ANNOTATIONS", &M::annotations},
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

absl::Status WrongType(std::string_view key, std::string_view expected) {
  return absl::InvalidArgumentError(StrCat("node metadata ", key, ": expected ", expected));
}

absl::Status Read(std::string_view key, const Value& value, std::string& out) {
  if (!value.has_string_value()) return WrongType(key, "a string");
  out = value.string_value();
  return absl::OkStatus();
}

absl::Status Read(std::string_view key, const Value& value, LabelMap& out) {
  if (!value.has_struct_value()) return WrongType(key, "an object of strings");
  for (const auto& [name, item] : value.struct_value().fields()) {
    if (item.has_null_value()) {
      out[name] = "";
    } else if (item.has_string_value()) {
      out[name] = item.string_value();
    } else {
      return WrongType(key, "an object of strings");
    }
  }
  return absl::OkStatus();
}

// A list is one string with commas.
absl::Status Read(std::string_view key, const Value& value, std::vector<std::string>& out) {
  if (!value.has_string_value()) return WrongType(key, "a comma-separated string");
  if (value.string_value().empty()) return absl::OkStatus();
  for (std::string_view piece : Split(value.string_value(), ',')) out.emplace_back(piece);
  return absl::OkStatus();
}

// A boolean is a string, in any of the spellings that Go's strconv.ParseBool takes.
absl::Status Read(std::string_view key, const Value& value, bool& out) {
  if (value.has_string_value()) {
    const std::string& text = value.string_value();
    for (std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
      if (text == yes) return out = true, absl::OkStatus();
    }
    for (std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
      if (text == no) return out = false, absl::OkStatus();
    }
  }
  return WrongType(key, "\"true\" or \"false\"");
}

absl::Status Read(std::string_view key, const Value& value, std::optional<bool>& out) {
  bool read = false;
  if (absl::Status status = Read(key, value, read); !status.ok()) return status;
  out = read;
  return absl::OkStatus();
}

absl::Status Read(std::string_view key, const Value& value, int& out) {
  constexpr double kLimit = 1e9;
  const double number = value.number_value();
  if (!value.has_number_value() || number != std::floor(number) || std::abs(number) > kLimit) {
    return WrongType(key, "an integer");
  }
  out = static_cast<int>(number);
  return absl::OkStatus();
}

// POD_PORTS is a JSON array inside a string:
// "[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"}]".
absl::Status ReadPodPorts(const Value& value, std::vector<PodPort>& out) {
  google::protobuf::ListValue list;
  if (!value.has_string_value() ||
      !google::protobuf::util::JsonStringToMessage(value.string_value(), &list).ok()) {
    return WrongType("POD_PORTS", "a JSON array in a string");
  }
  for (const Value& item : list.values()) {
    PodPort port;
    for (const auto& [key, field] : item.struct_value().fields()) {
      if (key == "name") port.name = field.string_value();
      if (key == "containerPort") port.container_port = static_cast<int>(field.number_value());
      if (key == "protocol") port.protocol = field.string_value();
    }
    out.push_back(std::move(port));
  }
  return absl::OkStatus();
}

// PROXY_CONFIG is the ProxyConfig message as JSON, durations in Go's form too; fields that a newer proxy knows
// and we don't are left out.
absl::Status ReadProxyConfig(const Value& value, M& out) {
  std::string json;
  google::protobuf::Struct written = value.struct_value();
  RewriteGoDurations(*istio::mesh::v1alpha1::ProxyConfig::descriptor(), &written);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  auto config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
  if (!value.has_struct_value() ||
      !google::protobuf::util::MessageToJsonString(written, &json).ok() ||
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

absl::Status ReadSpecial(const google::protobuf::Struct& metadata, M& out) {
  const auto find = [&](const char* key) -> const Value* {
    auto it = metadata.fields().find(key);
    return it == metadata.fields().end() || it->second.has_null_value() ? nullptr : &it->second;
  };
  absl::Status status;
  std::string text;
  if (const Value* value = find("INTERCEPTION_MODE")) {
    status.Update(Read("INTERCEPTION_MODE", *value, text));
    out.interception_mode = ParseInterceptionMode(text);
  }
  if (const Value* value = find("HTTP10")) {
    status.Update(Read("HTTP10", *value, text));
    out.http10 = text == "1";
  }
  if (const Value* value = find("POD_PORTS")) status.Update(ReadPodPorts(*value, out.pod_ports));
  if (const Value* value = find("PROXY_CONFIG")) status.Update(ReadProxyConfig(*value, out));
  return status;
}

}  // namespace

absl::StatusOr<ProxyMetadata> ParseProxyMetadata(const google::protobuf::Struct& metadata) {
  ProxyMetadata out;
  for (const Field& field : kFields) {
    auto it = metadata.fields().find(std::string(field.key));
    if (it == metadata.fields().end() || it->second.has_null_value()) continue;
    absl::Status status =
        std::visit([&](auto member) { return Read(field.key, it->second, out.*member); }, field.member);
    if (!status.ok()) return status;
  }
  if (absl::Status status = ReadSpecial(metadata, out); !status.ok()) return status;
  out.raw = std::make_shared<const google::protobuf::Struct>(metadata);
  return out;
}

std::optional<std::string_view> RawText(const ProxyMetadata& metadata, const std::string& key) {
  if (metadata.raw == nullptr) return std::nullopt;
  const auto it = metadata.raw->fields().find(key);
  if (it == metadata.raw->fields().end() || !it->second.has_string_value()) return std::nullopt;
  return it->second.string_value();
}

}  // namespace fairlead::model
