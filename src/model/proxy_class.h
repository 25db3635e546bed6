#ifndef FAIRLEAD_MODEL_PROXY_CLASS_H_
#define FAIRLEAD_MODEL_PROXY_CLASS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "model/proxy.h"

namespace fairlead::model {

// What of a proxy matters to what it is sent, but for who it is: its type, version, abilities and those of
// its settings that reach resources. A mesh has a few classes, and proxies of one class that see the same are
// sent the same, apart from what belongs to the workload (its namespace, labels, locality, addresses,
// services and policies), which is read through mesh::View. Immutable and interned: equal classes are one
// object, as long as one of their proxies is known.
struct ProxyClass {
  ProxyType type = ProxyType::kSidecar;
  bool proxyless = false;  // a gRPC library (IsProxyless)
  bool ipv4 = false, ipv6 = false;
  bool instance_ipv4 = false, instance_ipv6 = false;  // families of the addresses in INSTANCE_IPS
  IstioVersion version;
  std::shared_ptr<const ExtensionSet> extensions;  // null: has everything
  // What it may reach, and how.
  Interned cluster_id, network;
  std::vector<std::string> network_view;  // the networks that it asked for, sorted; empty: all
  bool sends_tunnels = true;              // HBONE
  bool dns_capture = false;
  Interned dns_proxy;  // "host:port" of the agent's DNS proxy, where DNS is captured
  Interned http_proxy_port;
  // Its listeners.
  InterceptionMode interception = InterceptionMode::kRedirect;  // never kUnset
  bool http10 = false, inbound_exact_balance = false, outbound_exact_balance = false, unprivileged = false;
  std::vector<uint32_t> reserved_ports;  // of its own static listeners: status, metrics
  std::optional<int64_t> idle_timeout;   // nanoseconds
  // Where its certificates come from: files, and SDS servers of its own.
  Interned client_certificate, client_key, client_root;  // TLS_CLIENT_*; empty without a certificate
  Interned server_certificate, server_key, server_root;  // TLS_SERVER_*
  bool credential_socket = false, file_credential_socket = false;
  // The fields of metadata PROXY_CONFIG that resources depend on (headers, tracing, connections), encoded; ""
  // with has_proxy_config false where the metadata has none, so that the mesh's default holds.
  bool has_proxy_config = false;
  Interned proxy_config;

  bool HasExtension(std::string_view name) const { return extensions == nullptr || extensions->Has(name); }
  friend bool operator==(const ProxyClass&, const ProxyClass&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ProxyClass& c) {
    return H::combine(std::move(h), c.type, c.extensions, c.version.minor, c.cluster_id, c.network,
                      c.interception, c.dns_proxy, c.proxy_config);
  }
};

// The class of a proxy. Thread-safe.
ProxyClassPtr ClassOf(const Proxy& proxy);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_PROXY_CLASS_H_
