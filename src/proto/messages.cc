#include "proto/messages.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/struct.pb.h>

#include "base/strings.h"
#include "envoy/config/core/v3/address.pb.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/config/core/v3/config_source.pb.h"
#include "envoy/config/core/v3/grpc_service.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "proto/wire.h"
#include "udpa/type/v1/typed_struct.pb.h"

namespace fairlead::proto {
namespace {

namespace core = envoy::config::core::v3;
namespace pb = google::protobuf;
using SdsSecretConfig = envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig;

constexpr std::string_view kTypeUrlPrefix = "type.googleapis.com/";
constexpr std::string_view kUnixPrefix = "unix://";
// The clusters of Istio's bootstrap (and CDS) that serve secrets.
constexpr std::string_view kAgentSecretCluster = "sds-grpc";
constexpr std::string_view kCredentialSocketCluster = "sds-external";

// Into exactly `size` bytes, which message.ByteSizeLong() has just said.
void WriteSized(const pb::Message& message, char* out, size_t size) {
  pb::io::ArrayOutputStream array(out, static_cast<int>(size));
  pb::io::CodedOutputStream coded(&array);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
}

}  // namespace

std::string DeterministicBytes(const pb::Message& message) {
  std::string bytes(message.ByteSizeLong(), '\0');
  WriteSized(message, bytes.data(), bytes.size());
  return bytes;
}

void AppendMessage(int number, const pb::Message& message, std::string* out) {
  const size_t size = message.ByteSizeLong();
  AppendLength(number, size, out);
  const size_t start = out->size();
  out->resize(start + size);
  WriteSized(message, out->data() + start, size);
}

void Pack(const pb::Message& message, pb::Any* out) {
  out->set_type_url(StrCat(kTypeUrlPrefix, message.GetDescriptor()->full_name()));
  out->set_value(DeterministicBytes(message));
}

pb::Any Packed(const pb::Message& message) {
  pb::Any any;
  Pack(message, &any);
  return any;
}

void PackEmpty(std::string_view type_name, pb::Any* out) {
  out->set_type_url(StrCat(kTypeUrlPrefix, type_name));
  out->clear_value();
}

void PackTypedStruct(std::string_view type_url, const pb::Struct& value, pb::Any* out) {
  udpa::type::v1::TypedStruct typed;
  typed.set_type_url(std::string(type_url));
  *typed.mutable_value() = value;
  Pack(typed, out);
}

void SetSocketAddress(std::string_view ip, uint32_t port, core::SocketAddress* out) {
  out->set_address(std::string(ip));
  out->set_port_value(port);
}

void SetAddress(std::string_view ip, uint32_t port, core::Address* out) {
  if (port != 0) return SetSocketAddress(ip, port, out->mutable_socket_address());
  if (ip.starts_with(kUnixPrefix)) ip.remove_prefix(kUnixPrefix.size());
  out->mutable_pipe()->set_path(std::string(ip));
}

void SetUdpAddress(std::string_view ip, uint32_t port, core::Address* out) {
  SetSocketAddress(ip, port, out->mutable_socket_address());
  out->mutable_socket_address()->set_protocol(core::SocketAddress::UDP);
}

void SetInternalAddress(std::string_view listener, std::string_view endpoint_id, core::Address* out) {
  auto* internal = out->mutable_envoy_internal_address();
  internal->set_server_listener_name(std::string(listener));
  internal->set_endpoint_id(std::string(endpoint_id));
}

void SetNanoseconds(int64_t nanoseconds, pb::Duration* out) {
  constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
  out->set_seconds(nanoseconds / kNanosecondsPerSecond);
  out->set_nanos(static_cast<int32_t>(nanoseconds % kNanosecondsPerSecond));
}

void SetMilliseconds(int64_t milliseconds, pb::Duration* out) {
  out->set_seconds(milliseconds / 1000);
  out->set_nanos(static_cast<int32_t>(milliseconds % 1000) * 1000000);
}

void SetAds(bool wait, core::ConfigSource* out) {
  out->mutable_ads();
  out->set_resource_api_version(core::V3);
  if (wait) out->mutable_initial_fetch_timeout();
}

void SetClusterSecret(std::string_view name, std::string_view cluster, std::string_view authority,
                      SdsSecretConfig* out) {
  out->set_name(std::string(name));
  auto* source = out->mutable_sds_config();
  source->set_resource_api_version(core::V3);
  auto* api = source->mutable_api_config_source();
  api->set_api_type(core::ApiConfigSource::GRPC);
  api->set_transport_api_version(core::V3);
  api->set_set_node_on_first_message_only(true);
  auto* grpc = api->add_grpc_services()->mutable_envoy_grpc();
  grpc->set_cluster_name(std::string(cluster));
  grpc->set_authority(std::string(authority));
}

void SetAgentSecret(std::string_view name, SdsSecretConfig* out) {
  SetClusterSecret(name, kAgentSecretCluster, "", out);
  // The identity every workload has is worth waiting for; a file may be missing.
  if (name == "default" || name == "ROOTCA") out->mutable_sds_config()->mutable_initial_fetch_timeout();
}

void SetCredentialSecret(std::string_view credential_name, bool has_credential_socket, SdsSecretConfig* out) {
  constexpr std::string_view kExternal = "sds://";
  if (credential_name == "builtin://") return SetAgentSecret("default", out);
  if (credential_name == "builtin://-cacert") return SetAgentSecret("ROOTCA", out);
  if (credential_name.starts_with(kExternal)) {
    if (has_credential_socket) return SetClusterSecret(credential_name, kCredentialSocketCluster, "", out);
    credential_name.remove_prefix(kExternal.size());
  }
  if (credential_name.starts_with("builtin://")) {
    out->set_name("default");
  } else if (credential_name.starts_with("invalid://")) {
    out->set_name("invalid://");
  } else if (credential_name.starts_with("configmap://") || credential_name.starts_with("kubernetes://") ||
             credential_name.starts_with("kubernetes-gateway://")) {
    out->set_name(std::string(credential_name));
  } else {
    out->set_name(StrCat("kubernetes://", credential_name));
  }
  // Without waiting: the secret may not exist, and only what needs it should suffer.
  SetAds(/*wait=*/false, out->mutable_sds_config());
}

void SetRawBuffer(core::TransportSocket* out) {
  out->set_name("envoy.transport_sockets.raw_buffer");
  PackEmpty("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", out->mutable_typed_config());
}

void SetString(std::string_view key, std::string_view value, pb::Struct* out) {
  (*out->mutable_fields())[std::string(key)].set_string_value(std::string(value));
}

void SetBool(std::string_view key, bool value, pb::Struct* out) {
  (*out->mutable_fields())[std::string(key)].set_bool_value(value);
}

}  // namespace fairlead::proto
