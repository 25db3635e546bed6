#ifndef FAIRLEAD_GEN_GRPC_BUILD_H_
#define FAIRLEAD_GEN_GRPC_BUILD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gen/grpc/inputs.h"
#include "gen/route/virtual_hosts.h"

namespace envoy::config::cluster::v3 {
class Cluster;
}
namespace envoy::config::listener::v3 {
class Listener;
}
namespace envoy::extensions::transport_sockets::tls::v3 {
class CommonTlsContext;
}

// Pure: inputs become messages. A field that gRPC does not know makes it reject the resource or is ignored,
// so there are few.
namespace fairlead::gen::grpc {

void BuildClientListener(const ClientListenerInputs& inputs, envoy::config::listener::v3::Listener* out);
void BuildServerListener(const ServerListenerInputs& inputs, envoy::config::listener::v3::Listener* out);
void BuildCluster(const ClusterInputs& inputs, envoy::config::cluster::v3::Cluster* out);

// The virtual hosts of a port that answer for one host, by its name or by a wildcard.
// Source: Istio's filterVirtualHostsForHostname.
route::VirtualHosts HostsFor(const route::VirtualHosts& all, std::string_view host, uint32_t port);

// Certificates and roots of the bootstrap's certificate provider "default", and whom to expect at the other
// end; `identities` empty: anyone. In the present fields and in those that gRPC read before 1.66.
void SetCertificateProviders(const std::vector<std::string>& identities,
                             envoy::extensions::transport_sockets::tls::v3::CommonTlsContext* out);

}  // namespace fairlead::gen::grpc

#endif  // FAIRLEAD_GEN_GRPC_BUILD_H_
