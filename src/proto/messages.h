#ifndef FAIRLEAD_PROTO_MESSAGES_H_
#define FAIRLEAD_PROTO_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace google::protobuf {
class Any;
class Duration;
class Message;
class Struct;
}  // namespace google::protobuf
namespace envoy::config::core::v3 {
class Address;
class ConfigSource;
class SocketAddress;
class TransportSocket;
}  // namespace envoy::config::core::v3
namespace envoy::extensions::transport_sockets::tls::v3 {
class SdsSecretConfig;
}

// Small constructors for messages that many resources hold. Pure and thread-safe; an `out` is filled, not
// kept.
namespace fairlead::proto {

// The message's bytes, the same for equal messages (map entries in order of their keys).
std::string DeterministicBytes(const google::protobuf::Message& message);
// The same as a field of the message whose encoding is in `out`.
void AppendMessage(int number, const google::protobuf::Message& message, std::string* out);
// The message as an Any, its bytes deterministic. Any::PackFrom is not: it writes maps in hash order.
void Pack(const google::protobuf::Message& message, google::protobuf::Any* out);
google::protobuf::Any Packed(const google::protobuf::Message& message);
// An empty message of a type that is named only: "envoy.extensions.http…" becomes "type.googleapis.com/…".
void PackEmpty(std::string_view type_name, google::protobuf::Any* out);
// An xDS TypedStruct (udpa.type.v1): how Istio sends the configuration of its own extensions.
void PackTypedStruct(std::string_view type_url, const google::protobuf::Struct& value,
                     google::protobuf::Any* out);

// ip:port as a TCP socket address. Port 0 stands for a unix domain socket: `ip` is then a path, "unix://"
// dropped.
void SetAddress(std::string_view ip, uint32_t port, envoy::config::core::v3::Address* out);
// ip:port over UDP.
void SetUdpAddress(std::string_view ip, uint32_t port, envoy::config::core::v3::Address* out);
// ip with an explicit port, zero allowed (bind addresses).
void SetSocketAddress(std::string_view ip, uint32_t port, envoy::config::core::v3::SocketAddress* out);
// An internal listener by name; `endpoint_id` keeps apart endpoints that share it.
void SetInternalAddress(std::string_view listener, std::string_view endpoint_id,
                        envoy::config::core::v3::Address* out);

void SetNanoseconds(int64_t nanoseconds, google::protobuf::Duration* out);
void SetMilliseconds(int64_t milliseconds, google::protobuf::Duration* out);
inline void SetSeconds(int64_t seconds, google::protobuf::Duration* out) {
  SetMilliseconds(seconds * 1000, out);
}

// "Over this ADS stream, v3"; `wait` sets an initial fetch timeout of 0: wait for it as long as it takes.
void SetAds(bool wait, envoy::config::core::v3::ConfigSource* out);

// A secret by name from the agent's SDS server (cluster "sds-grpc"): "default" is the workload's certificate,
// "ROOTCA" its roots, "file-cert:…" and "file-root:…" files that the agent watches.
void SetAgentSecret(std::string_view name,
                    envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig* out);
// A secret by name from an SDS server behind another cluster; `authority` may be "".
void SetClusterSecret(std::string_view name, std::string_view cluster, std::string_view authority,
                      envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig* out);
// The secret that a credentialName of a Gateway or DestinationRule stands for: over ADS as
// "kubernetes://name" (a name that has a known scheme stays), from the agent for the built-in ones, from the
// credential socket for "sds://…" where the proxy has one. Source: Istio's
// ConstructSdsSecretConfigForCredential without extension providers.
void SetCredentialSecret(std::string_view credential_name, bool has_credential_socket,
                         envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig* out);

// The transport socket that adds nothing.
void SetRawBuffer(envoy::config::core::v3::TransportSocket* out);

void SetString(std::string_view key, std::string_view value, google::protobuf::Struct* out);
void SetBool(std::string_view key, bool value, google::protobuf::Struct* out);

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_MESSAGES_H_
