#ifndef FAIRLEAD_MODEL_PROXY_H_
#define FAIRLEAD_MODEL_PROXY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/interned.h"
#include "base/labels.h"
#include "model/config_source.h"
#include "model/endpoint.h"
#include "model/node_limits.h"
#include "model/peer_identity.h"
#include "model/raw_metadata.h"

namespace envoy::config::core::v3 {
class Node;
}
namespace google::protobuf {
class Struct;
}
namespace istio::mesh::v1alpha1 {
class ProxyConfig;
}

namespace fairlead::model {

enum class ProxyType : uint8_t { kSidecar, kRouter, kWaypoint, kZtunnel };

// Major.minor.patch that a proxy reports as ISTIO_VERSION. A proxy without one counts as the newest (Istio:
// MaxIstioVersion).
struct IstioVersion {
  int major = 65535, minor = 65535, patch = 65535;
  friend auto operator<=>(const IstioVersion&, const IstioVersion&) = default;
};

// Of "1.27.3", "release-1.27", "1.27-alpha.0"; the default value where there is none to be found.
IstioVersion ParseIstioVersion(std::string_view text);

struct PodPort {
  std::string name;
  int container_port = 0;
  std::string protocol;
};

enum class InterceptionMode : uint8_t { kUnset, kRedirect, kTproxy, kNone };

// The node metadata that generation reads, typed. Names follow Istio's NodeMetadata (keys in upper case on
// the wire).
struct ProxyMetadata {
  std::string istio_version, istio_revision, mesh_id, cluster_id, network, ns, node_name, workload_name;
  std::string service_account, generator, http_proxy_port, idle_timeout, dns_proxy_addr, auto_register_group;
  std::string workload_entry, unprivileged_pod, sts_port, cert_base_dir, workload_identity_socket_file,
      cloudrun_addr;
  std::string tls_server_cert_chain, tls_server_key, tls_server_root_cert;
  std::string tls_client_cert_chain, tls_client_key, tls_client_root_cert;
  LabelMap labels, static_labels, platform_metadata;
  std::vector<std::string> instance_ips;  // INSTANCE_IPS, a comma-separated string on the wire
  std::vector<std::string> requested_network_view;
  std::vector<PodPort> pod_ports;
  InterceptionMode interception_mode = InterceptionMode::kUnset;
  bool http10 = false, dns_capture = false, dns_auto_allocate = false, enable_self_discovery = false;
  bool enable_hbone = false, disable_hbone_send = false, exit_on_zero_active_connections = false;
  bool inbound_exact_balance = false, outbound_exact_balance = false;
  std::optional<bool> metadata_discovery;
  int envoy_status_port = 0, envoy_prometheus_port = 0;
  int envoy_secure_metrics_port = 0, envoy_secure_merged_metrics_port = 0;
  std::shared_ptr<const istio::mesh::v1alpha1::ProxyConfig> proxy_config;  // PROXY_CONFIG; null where absent
  std::shared_ptr<const RawMetadata> raw;  // everything as it came, annotations too; null: nothing
};

// The text by a key of the metadata as it came, or by a key of an object there; nothing where there is none.
std::optional<std::string_view> RawText(const ProxyMetadata& metadata, std::string_view key);
std::optional<std::string_view> RawEntry(const ProxyMetadata& metadata, std::string_view object,
                                         std::string_view key);

// The extensions that a proxy says it has (node.extensions). A proxy that lists none is taken for istio-proxy
// and has everything; a stock Envoy lists some 500 and lacks Istio's own filters. Interned: one set for all
// equal lists.
class ExtensionSet {
 public:
  // Null where `names` is empty: "lists none". Thread-safe.
  static std::shared_ptr<const ExtensionSet> Intern(std::set<std::string, std::less<>> names);
  bool Has(std::string_view name) const { return names_.contains(name); }
  size_t size() const { return names_.size(); }

 private:
  explicit ExtensionSet(std::set<std::string, std::less<>> names) : names_(std::move(names)) {}
  const std::set<std::string, std::less<>> names_;
};

struct ProxyClass;  // proxy_class.h
using ProxyClassPtr = std::shared_ptr<const ProxyClass>;

// One connected proxy as it describes itself in its first request; immutable. What the mesh adds (locality
// and labels of its pod, its services, its Sidecar) is in mesh::ProxyScope.
struct Proxy {
  ProxyType type = ProxyType::kSidecar;
  std::string node_id;                    // the whole: type~ip~id~domain
  std::string id;                         // "pod.namespace"
  std::string domain;                     // "default.svc.cluster.local"
  std::string cluster;                    // node.cluster
  std::string ns;                         // configuration namespace: metadata NAMESPACE, else of the domain
  std::vector<std::string> ip_addresses;  // of INSTANCE_IPS where valid, else of the node id; never empty
  bool supports_ipv4 = false, supports_ipv6 = false;
  Locality node_locality;  // as the bootstrap says it
  IstioVersion version;
  ProxyMetadata metadata;
  std::shared_ptr<const ExtensionSet> extensions;
  // Who it has proven to be, by a certificate or a token: the only member that is not its own word. Nothing
  // for a proxy that has proven nothing.
  std::optional<PeerIdentity> identity;
  ConfigSource source;  // of what its resources refer to; ADS unless the stream that it came over has another
  ProxyClassPtr proxy_class;  // what of all this matters to what it is sent; set by ParseProxy
};
using ProxyPtr = std::shared_ptr<const Proxy>;

// Reads node metadata: what ProxyMetadata names, each key as Istio's agent writes it (booleans and lists as
// strings, POD_PORTS as JSON in a string). InvalidArgument, naming the key, where a value is of another type
// or too long.
absl::StatusOr<ProxyMetadata> ParseProxyMetadata(const google::protobuf::Struct& metadata,
                                                 const NodeLimits& limits = {});

// Reads a node. InvalidArgument, naming what is wrong, where the id has not four parts, an unknown type, or
// an IP that is none; where anything goes over the limits of texts and entries. Unimplemented for types that
// are not served: waypoints and ztunnels. Source: Istio's ParseServiceNodeWithMetadata.
absl::StatusOr<ProxyPtr> ParseProxy(const envoy::config::core::v3::Node& node, const NodeLimits& limits = {});

// Reads an encoded node, which is not parsed before CheckNode has let it pass. Otherwise as ParseProxy.
absl::StatusOr<ProxyPtr> ReadProxy(std::string_view encoded, const NodeLimits& limits = {});

// Roughly the bytes that a proxy takes by itself.
size_t MemoryOf(const Proxy& proxy);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_PROXY_H_
