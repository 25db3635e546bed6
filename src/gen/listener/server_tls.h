#ifndef FAIRLEAD_GEN_LISTENER_SERVER_TLS_H_
#define FAIRLEAD_GEN_LISTENER_SERVER_TLS_H_

#include "base/interned.h"

namespace envoy::config::core::v3 {
class TransportSocket;
}
namespace istio::networking::v1alpha3 {
class ServerTLSSettings;
}

namespace fairlead::gen::listener {

struct ProxyTraits;

// The mesh's secret server for credential names of the form "sds://name". Empty: there is none.
struct SecretServer {
  Interned cluster, host;
  bool missing = false;  // MeshConfig names one whose service is not known
  friend bool operator==(const SecretServer&, const SecretServer&) = default;
};

// How a chain decrypts.
struct ServerTls {
  const istio::networking::v1alpha3::ServerTLSSettings& settings;
  bool quic = false;
  bool exchanges_metadata = false;  // plain TCP inside mutual TLS between workloads
  bool credential_socket = false;   // node metadata "credential"
  SecretServer secret_server;
};

// The transport socket of a chain that decrypts for a Gateway's server or a Sidecar's ingress. It has
// certificates (by name, from files, or the workload's), demands on clients, versions and ciphers. Pure.
// Source: Istio's BuildListenerTLSContext; API: ServerTLSSettings.
void SetServerTls(const ProxyTraits& traits, const ServerTls& server,
                  envoy::config::core::v3::TransportSocket* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_SERVER_TLS_H_
