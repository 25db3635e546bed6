#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <utility>

#include "base/strings.h"
#include "envoy/config/accesslog/v3/accesslog.pb.h"
#include "envoy/extensions/access_loggers/file/v3/file.pb.h"
#include "envoy/extensions/access_loggers/grpc/v3/als.pb.h"
#include "envoy/extensions/access_loggers/open_telemetry/v3/logs_service.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/telemetry/access_log_plan.h"
#include "gen/telemetry/traits.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::telemetry {
namespace {

namespace core = envoy::config::core::v3;
namespace als = envoy::extensions::access_loggers::grpc::v3;
using envoy::config::accesslog::v3::AccessLog;
using envoy::extensions::access_loggers::file::v3::FileAccessLog;
using envoy::extensions::access_loggers::open_telemetry::v3::OpenTelemetryAccessLogConfig;
using istio::mesh::v1alpha1::MeshConfig;
using Provider = MeshConfig::ExtensionProvider;
using Formatters = google::protobuf::RepeatedPtrField<core::TypedExtensionConfig>;
using google::protobuf::Struct;

constexpr std::string_view kTextFormat =
    "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% "
    "%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "
    "\"%UPSTREAM_TRANSPORT_FAILURE_REASON%\" %BYTES_RECEIVED% %BYTES_SENT% %DURATION% "
    "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" "
    "\"%REQ(X-REQUEST-ID)%\" "
    "\"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\" %UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% "
    "%DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% %ROUTE_NAME%\n";

constexpr std::pair<std::string_view, std::string_view> kJsonFormat[] = {
    {"start_time", "%START_TIME%"},
    {"route_name", "%ROUTE_NAME%"},
    {"method", "%REQ(:METHOD)%"},
    {"path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"},
    {"protocol", "%PROTOCOL%"},
    {"response_code", "%RESPONSE_CODE%"},
    {"response_flags", "%RESPONSE_FLAGS%"},
    {"response_code_details", "%RESPONSE_CODE_DETAILS%"},
    {"connection_termination_details", "%CONNECTION_TERMINATION_DETAILS%"},
    {"bytes_received", "%BYTES_RECEIVED%"},
    {"bytes_sent", "%BYTES_SENT%"},
    {"duration", "%DURATION%"},
    {"upstream_service_time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"},
    {"x_forwarded_for", "%REQ(X-FORWARDED-FOR)%"},
    {"user_agent", "%REQ(USER-AGENT)%"},
    {"request_id", "%REQ(X-REQUEST-ID)%"},
    {"authority", "%REQ(:AUTHORITY)%"},
    {"upstream_host", "%UPSTREAM_HOST%"},
    {"upstream_cluster", "%UPSTREAM_CLUSTER_RAW%"},
    {"upstream_local_address", "%UPSTREAM_LOCAL_ADDRESS%"},
    {"downstream_local_address", "%DOWNSTREAM_LOCAL_ADDRESS%"},
    {"downstream_remote_address", "%DOWNSTREAM_REMOTE_ADDRESS%"},
    {"requested_server_name", "%REQUESTED_SERVER_NAME%"},
    {"upstream_transport_failure_reason", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"},
};

constexpr std::string_view kWithoutQuery = "%REQ_WITHOUT_QUERY";
// Filter state of Istio's metadata exchange that log services are sent; the mesh-wide ones still get the old
// names.
constexpr std::string_view kPeerState[] = {"upstream_peer", "downstream_peer"};
constexpr std::string_view kOldPeerState[] = {"upstream_peer",        "downstream_peer",
                                              "wasm.upstream_peer",   "wasm.upstream_peer_id",
                                              "wasm.downstream_peer", "wasm.downstream_peer_id"};

Struct DefaultJson() {
  Struct json;
  for (const auto& [name, command] : kJsonFormat) proto::SetString(name, command, &json);
  return json;
}

void AddWithoutQueryFormatter(Formatters* out) {
  core::TypedExtensionConfig* formatter = out->Add();
  formatter->set_name("envoy.formatter.req_without_query");
  proto::PackEmpty("envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery",
                   formatter->mutable_typed_config());
}

bool WantsWithoutQuery(std::string_view text) { return text.find(kWithoutQuery) != std::string_view::npos; }
bool WantsWithoutQuery(const Struct& json) {
  for (const auto& [name, value] : json.fields()) {
    if (WantsWithoutQuery(value.string_value())) return true;
  }
  return false;
}

// Istio ends every line, whatever the user wrote.
void SetText(std::string_view wanted, core::SubstitutionFormatString* out) {
  std::string text(wanted.empty() ? kTextFormat : wanted);
  if (!text.ends_with('\n')) text += '\n';
  if (WantsWithoutQuery(text)) AddWithoutQueryFormatter(out->mutable_formatters());
  out->mutable_text_format_source()->set_inline_string(text);
}

void SetJson(const Struct& json, core::SubstitutionFormatString* out) {
  if (WantsWithoutQuery(json)) AddWithoutQueryFormatter(out->mutable_formatters());
  *out->mutable_json_format() = json;
  out->mutable_json_format_options();
}

void SetFile(const FileAccessLog& file, AccessLog* out) {
  out->set_name("envoy.access_loggers.file");
  proto::Pack(file, out->mutable_typed_config());
}

// The provider "envoy" that every mesh has stands for MeshConfig's own settings as long as it has none.
void SetFileProvider(const MeshConfig& mesh, const Provider& provider, AccessLog* out) {
  const auto& wanted = provider.envoy_file_access_log();
  if (provider.name() == "envoy" && !wanted.has_log_format() && !wanted.omit_empty_values()) {
    return SetMeshFileLog(mesh, wanted.path(), out);
  }
  FileAccessLog file;
  file.set_path(wanted.path().empty() ? "/dev/stdout" : wanted.path());
  core::SubstitutionFormatString* format = file.mutable_log_format();
  if (wanted.log_format().has_labels()) {
    const Struct& labels = wanted.log_format().labels();
    SetJson(labels.fields().empty() ? DefaultJson() : labels, format);
  } else {
    SetText(wanted.log_format().text(), format);
  }
  format->set_omit_empty_values(wanted.omit_empty_values());
  SetFile(file, out);
}

template <typename States>
void SetCommon(const std::string& log_name, const std::string& cluster, const std::string& authority,
               const States& states, als::CommonGrpcAccessLogConfig* out) {
  out->set_log_name(log_name);
  out->mutable_grpc_service()->mutable_envoy_grpc()->set_cluster_name(cluster);
  out->mutable_grpc_service()->mutable_envoy_grpc()->set_authority(authority);
  out->set_transport_api_version(core::ApiVersion::V3);
  for (const auto& state : states) out->add_filter_state_objects_to_log(std::string(state));
}

// The fields that the HTTP and the TCP log service providers share. False: their service is unknown.
template <typename Service>
bool SetServiceCommon(const Traits& traits, const Service& provider, const char* default_name,
                      als::CommonGrpcAccessLogConfig* out) {
  const std::string host(traits.telemetry.HostOf(provider.service()));
  if (host.empty()) return false;
  const std::string cluster = OutboundClusterName(provider.port(), "", host);
  const std::string name = provider.log_name().empty() ? default_name : provider.log_name();
  if (provider.filter_state_objects_to_log().empty()) {
    SetCommon(name, cluster, host, kPeerState, out);
  } else {
    SetCommon(name, cluster, host, provider.filter_state_objects_to_log(), out);
  }
  return true;
}

bool SetHttpService(const Traits& traits, const Provider::EnvoyHttpGrpcV3LogProvider& provider,
                    AccessLog* out) {
  als::HttpGrpcAccessLogConfig config;
  if (!SetServiceCommon(traits, provider, "http_envoy_accesslog", config.mutable_common_config()))
    return false;
  *config.mutable_additional_request_headers_to_log() = provider.additional_request_headers_to_log();
  *config.mutable_additional_response_headers_to_log() = provider.additional_response_headers_to_log();
  *config.mutable_additional_response_trailers_to_log() = provider.additional_response_trailers_to_log();
  out->set_name("envoy.access_loggers.http_grpc");
  proto::Pack(config, out->mutable_typed_config());
  return true;
}

bool SetTcpService(const Traits& traits, const Provider::EnvoyTcpGrpcV3LogProvider& provider,
                   AccessLog* out) {
  als::TcpGrpcAccessLogConfig config;
  if (!SetServiceCommon(traits, provider, "tcp_envoy_accesslog", config.mutable_common_config()))
    return false;
  out->set_name("envoy.tcp_grpc_access_log");
  proto::Pack(config, out->mutable_typed_config());
  return true;
}

bool SetOpenTelemetry(const Traits& traits, const Provider::EnvoyOpenTelemetryLogProvider& provider,
                      AccessLog* out) {
  const std::string host(traits.telemetry.HostOf(provider.service()));
  if (host.empty()) return false;
  OpenTelemetryAccessLogConfig config;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  als::CommonGrpcAccessLogConfig* common =
      config.mutable_common_config();  // Istio sends it; older proxies need it
#pragma GCC diagnostic pop
  SetCommon(provider.log_name().empty() ? "otel_envoy_accesslog" : provider.log_name(),
            OutboundClusterName(provider.port(), "", host), host, kOldPeerState, common);
  config.set_disable_builtin_labels(true);
  const std::string& wanted = provider.log_format().text();
  const std::string text = wanted.empty() ? std::string(kTextFormat) : wanted;
  config.mutable_body()->set_string_value(text);
  const Struct& labels = provider.log_format().labels();
  std::map<std::string, std::string> attributes;
  for (const auto& [key, value] : labels.fields()) attributes[key] = value.string_value();
  for (const auto& [key, value] : attributes) {
    auto* attribute = config.mutable_attributes()->add_values();
    attribute->set_key(key);
    attribute->mutable_value()->set_string_value(value);
  }
  if (WantsWithoutQuery(text) || WantsWithoutQuery(labels))
    AddWithoutQueryFormatter(config.mutable_formatters());
  out->set_name("envoy.access_loggers.open_telemetry");
  proto::Pack(config, out->mutable_typed_config());
  return true;
}

}  // namespace

void SetMeshFileLog(const MeshConfig& mesh, const std::string& path, AccessLog* out) {
  FileAccessLog file;
  file.set_path(path);
  if (mesh.access_log_encoding() == MeshConfig::JSON) {
    Struct json;
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    const bool wanted =
        !mesh.access_log_format().empty() &&
        google::protobuf::util::JsonStringToMessage(mesh.access_log_format(), &json, options).ok();
    SetJson(wanted ? json : DefaultJson(), file.mutable_log_format());
  } else {
    SetText(mesh.access_log_format(), file.mutable_log_format());
  }
  SetFile(file, out);
}

void SetMeshServiceLog(bool http, const std::string& log_name, AccessLog* out) {
  const std::string cluster = "envoy_accesslog_service";  // of the bootstrap
  if (http) {
    als::HttpGrpcAccessLogConfig config;
    SetCommon(log_name, cluster, "", kOldPeerState, config.mutable_common_config());
    out->set_name("envoy.access_loggers.http_grpc");
    proto::Pack(config, out->mutable_typed_config());
  } else {
    als::TcpGrpcAccessLogConfig config;
    SetCommon(log_name, cluster, "", kOldPeerState, config.mutable_common_config());
    out->set_name("envoy.tcp_grpc_access_log");
    proto::Pack(config, out->mutable_typed_config());
  }
}

bool SetProviderLog(const Traits& traits, const Provider& provider, AccessLog* out) {
  switch (provider.provider_case()) {
    case Provider::kEnvoyFileAccessLog:
      SetFileProvider(*traits.settings->mesh, provider, out);
      return true;
    case Provider::kEnvoyHttpAls:
      return SetHttpService(traits, provider.envoy_http_als(), out);
    case Provider::kEnvoyTcpAls:
      return SetTcpService(traits, provider.envoy_tcp_als(), out);
    case Provider::kEnvoyOtelAls:
      return SetOpenTelemetry(traits, provider.envoy_otel_als(), out);
    default:
      return false;
  }
}

}  // namespace fairlead::gen::telemetry
