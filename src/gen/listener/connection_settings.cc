#include "gen/listener/connection_settings.h"

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::core::v3::HttpProtocolOptions;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using Settings = istio::mesh::v1alpha1::ProxyConfig_ConnectionSettings;

void SetTimeouts(const Settings& settings, HttpConnectionManager* out) {
  if (settings.has_http_idle_timeout()) {
    *out->mutable_common_http_protocol_options()->mutable_idle_timeout() = settings.http_idle_timeout();
  }
  if (settings.has_http_max_connection_duration()) {
    *out->mutable_common_http_protocol_options()->mutable_max_connection_duration() =
        settings.http_max_connection_duration();
  }
  if (settings.has_http_max_stream_duration()) {
    *out->mutable_common_http_protocol_options()->mutable_max_stream_duration() =
        settings.http_max_stream_duration();
  }
  if (settings.has_http_stream_idle_timeout()) {
    *out->mutable_stream_idle_timeout() = settings.http_stream_idle_timeout();
  }
  if (settings.has_http_request_timeout()) *out->mutable_request_timeout() = settings.http_request_timeout();
  if (settings.has_http_request_headers_timeout()) {
    *out->mutable_request_headers_timeout() = settings.http_request_headers_timeout();
  }
  if (settings.has_http_drain_timeout()) *out->mutable_drain_timeout() = settings.http_drain_timeout();
}

void SetHttp2(const Settings& settings, HttpConnectionManager* out) {
  if (!settings.has_http_max_concurrent_streams() && !settings.has_http2_initial_stream_window_size() &&
      !settings.has_http2_initial_connection_window_size()) {
    return;
  }
  auto* options = out->mutable_http2_protocol_options();
  const auto valid = [](const google::protobuf::Int32Value& value) { return value.value() >= 0; };
  if (settings.has_http_max_concurrent_streams() && valid(settings.http_max_concurrent_streams())) {
    options->mutable_max_concurrent_streams()->set_value(settings.http_max_concurrent_streams().value());
  }
  if (settings.has_http2_initial_stream_window_size() && valid(settings.http2_initial_stream_window_size())) {
    options->mutable_initial_stream_window_size()->set_value(
        settings.http2_initial_stream_window_size().value());
  }
  if (settings.has_http2_initial_connection_window_size() &&
      valid(settings.http2_initial_connection_window_size())) {
    options->mutable_initial_connection_window_size()->set_value(
        settings.http2_initial_connection_window_size().value());
  }
}

void SetUnderscores(const Settings& settings, HttpConnectionManager* out) {
  HttpProtocolOptions::HeadersWithUnderscoresAction action = HttpProtocolOptions::ALLOW;
  switch (settings.http_headers_with_underscores_action()) {
    case Settings::HEADERS_WITH_UNDERSCORES_ALLOW:
      break;
    case Settings::HEADERS_WITH_UNDERSCORES_REJECT_REQUEST:
      action = HttpProtocolOptions::REJECT_REQUEST;
      break;
    case Settings::HEADERS_WITH_UNDERSCORES_DROP_HEADER:
      action = HttpProtocolOptions::DROP_HEADER;
      break;
    default:
      return;
  }
  out->mutable_common_http_protocol_options()->set_headers_with_underscores_action(action);
}

void SetPaths(const Settings& settings, HttpConnectionManager* out) {
  if (settings.has_http_merge_slashes()) out->set_merge_slashes(settings.http_merge_slashes().value());
  switch (settings.http_path_with_escaped_slashes_action()) {
    case Settings::KEEP_UNCHANGED:
      return out->set_path_with_escaped_slashes_action(HttpConnectionManager::KEEP_UNCHANGED);
    case Settings::REJECT_REQUEST:
      return out->set_path_with_escaped_slashes_action(HttpConnectionManager::REJECT_REQUEST);
    case Settings::UNESCAPE_AND_REDIRECT:
      return out->set_path_with_escaped_slashes_action(HttpConnectionManager::UNESCAPE_AND_REDIRECT);
    case Settings::UNESCAPE_AND_FORWARD:
      return out->set_path_with_escaped_slashes_action(HttpConnectionManager::UNESCAPE_AND_FORWARD);
    default:
      return;
  }
}

}  // namespace

Settings EffectiveConnectionSettings(const Settings& settings, bool router) {
  if (!router || settings.profile() != Settings::EDGE) return settings;
  Settings out;
  out.mutable_listener_per_connection_buffer_limit_bytes()->set_value(32 << 10);
  out.mutable_http_idle_timeout()->set_seconds(3600);
  out.mutable_http_stream_idle_timeout()->set_seconds(300);
  out.mutable_http_request_timeout()->set_seconds(300);
  out.mutable_http_request_headers_timeout()->set_seconds(60);
  out.mutable_http_max_concurrent_streams()->set_value(100);
  out.mutable_http2_initial_stream_window_size()->set_value(64 << 10);
  out.mutable_http2_initial_connection_window_size()->set_value(1 << 20);
  out.set_http_headers_with_underscores_action(Settings::HEADERS_WITH_UNDERSCORES_REJECT_REQUEST);
  out.mutable_http_merge_slashes()->set_value(true);
  out.set_http_path_with_escaped_slashes_action(Settings::UNESCAPE_AND_REDIRECT);
  // What is said replaces these, whole fields at a time.
  for (int i = 0; i < Settings::descriptor()->field_count(); ++i) {
    const auto* field = Settings::descriptor()->field(i);
    if (Settings::GetReflection()->HasField(settings, field))
      Settings::GetReflection()->ClearField(&out, field);
  }
  out.MergeFrom(settings);
  return out;
}

void ApplyConnectionSettings(const Settings& settings, HttpConnectionManager* out) {
  SetTimeouts(settings, out);
  SetHttp2(settings, out);
  SetUnderscores(settings, out);
  SetPaths(settings, out);
}

}  // namespace fairlead::gen::listener
