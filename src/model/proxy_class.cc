#include "model/proxy_class.h"

#include <algorithm>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "base/duration.h"
#include "base/go_bool.h"
#include "base/ip_address.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "model/proxyless.h"
#include "proto/messages.h"

namespace fairlead::model {
namespace {

// "true" of a key in the node's metadata that ProxyMetadata does not name.
bool RawFlag(const ProxyMetadata& metadata, const char* key) { return RawText(metadata, key) == "true"; }

// Metadata that names more (a pod's own drain time, say) does not split classes.
Interned CutDown(const istio::mesh::v1alpha1::ProxyConfig& config) {
  istio::mesh::v1alpha1::ProxyConfig kept;
  if (config.has_proxy_headers()) *kept.mutable_proxy_headers() = config.proxy_headers();
  if (config.has_tracing()) *kept.mutable_tracing() = config.tracing();
  if (config.has_connection_settings()) *kept.mutable_connection_settings() = config.connection_settings();
  if (config.has_private_key_provider()) *kept.mutable_private_key_provider() = config.private_key_provider();
  if (config.has_gateway_topology()) *kept.mutable_gateway_topology() = config.gateway_topology();
  return proto::DeterministicBytes(kept);
}

void SetInstanceFamilies(const ProxyMetadata& metadata, ProxyClass* out) {
  for (const std::string& text : metadata.instance_ips) {
    const auto address = IpAddress::Parse(text);
    if (address) (address->is_v4() ? out->instance_ipv4 : out->instance_ipv6) = true;
  }
}

void SetListening(const ProxyMetadata& metadata, ProxyClass* out) {
  if (metadata.interception_mode != InterceptionMode::kUnset) out->interception = metadata.interception_mode;
  out->http10 = metadata.http10;
  out->inbound_exact_balance = metadata.inbound_exact_balance;
  out->outbound_exact_balance = metadata.outbound_exact_balance;
  out->unprivileged = ParseGoBool(metadata.unprivileged_pod).value_or(false);
  for (const int port : {metadata.envoy_status_port, metadata.envoy_prometheus_port,
                         metadata.envoy_secure_metrics_port, metadata.envoy_secure_merged_metrics_port}) {
    if (port > 0) out->reserved_ports.push_back(static_cast<uint32_t>(port));
  }
  if (const auto idle = ParseGoDuration(metadata.idle_timeout)) out->idle_timeout = idle->count();
  out->http_proxy_port = metadata.http_proxy_port;
}

void SetCertificates(const ProxyMetadata& metadata, ProxyClass* out) {
  if (!metadata.tls_client_cert_chain.empty()) {
    out->client_certificate = metadata.tls_client_cert_chain;
    out->client_key = metadata.tls_client_key;
    out->client_root = metadata.tls_client_root_cert;
  }
  out->server_certificate = metadata.tls_server_cert_chain;
  out->server_key = metadata.tls_server_key;
  out->server_root = metadata.tls_server_root_cert;
  out->credential_socket = RawFlag(metadata, "credential");
  out->file_credential_socket = RawFlag(metadata, "file-credential");
}

// One object for equal classes.
class Pool {
 public:
  ProxyClassPtr Intern(ProxyClass wanted) {
    std::lock_guard lock(mutex_);
    if (++made_ % kSweepEvery == 0) {
      absl::erase_if(classes_, [](const auto& entry) { return entry.second.expired(); });
    }
    std::weak_ptr<const ProxyClass>& held = classes_[wanted];
    if (ProxyClassPtr known = held.lock()) return known;
    auto made = std::make_shared<const ProxyClass>(std::move(wanted));
    held = made;
    return made;
  }

 private:
  static constexpr size_t kSweepEvery = 1024;
  std::mutex mutex_;
  size_t made_ = 0;
  absl::flat_hash_map<ProxyClass, std::weak_ptr<const ProxyClass>> classes_;
};

}  // namespace

ProxyClassPtr ClassOf(const Proxy& proxy) {
  static auto* const pool = new Pool;
  const ProxyMetadata& metadata = proxy.metadata;
  ProxyClass out;
  out.type = proxy.type;
  out.proxyless = IsProxyless(proxy);
  out.ipv4 = proxy.supports_ipv4;
  out.ipv6 = proxy.supports_ipv6;
  SetInstanceFamilies(metadata, &out);
  out.version = proxy.version;
  out.extensions = proxy.extensions;
  out.cluster_id = metadata.cluster_id;
  out.network = metadata.network;
  out.network_view = metadata.requested_network_view;
  std::sort(out.network_view.begin(), out.network_view.end());
  out.sends_tunnels = !metadata.disable_hbone_send && !out.proxyless;
  out.dns_capture = metadata.dns_capture;
  // Istio falls back to the agent's default address where the metadata's cannot be read.
  if (out.dns_capture) {
    out.dns_proxy = metadata.dns_proxy_addr.empty() ? "127.0.0.1:15053" : metadata.dns_proxy_addr.c_str();
  }
  SetListening(metadata, &out);
  SetCertificates(metadata, &out);
  out.has_proxy_config = metadata.proxy_config != nullptr;
  if (out.has_proxy_config) out.proxy_config = CutDown(*metadata.proxy_config);
  return pool->Intern(std::move(out));
}

}  // namespace fairlead::model
