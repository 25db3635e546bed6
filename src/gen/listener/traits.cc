#include "gen/listener/traits.h"

#include "base/duration.h"
#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/telemetry/tracing.h"
#include "google/protobuf/struct.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::ProxyConfig;
using istio::networking::v1alpha3::OutboundTrafficPolicy;

Interned OrElse(std::string_view text, std::string_view fallback) { return text.empty() ? fallback : text; }

// Source: Istio's GetProxyConfig fields that reach listeners; metadata that names more does not split the
// caches.
Interned CutDown(const ProxyConfig& config, const ProxyConfig& mesh_default) {
  ProxyConfig kept;
  if (config.has_proxy_headers()) *kept.mutable_proxy_headers() = config.proxy_headers();
  if (config.has_tracing()) *kept.mutable_tracing() = config.tracing();
  if (config.has_connection_settings()) {
    *kept.mutable_connection_settings() = config.connection_settings();
  } else if (mesh_default.has_connection_settings()) {
    *kept.mutable_connection_settings() = mesh_default.connection_settings();
  }
  return proto::DeterministicBytes(kept);
}

route::CatchAll CollectCatchAll(const mesh::SidecarScope& sidecar, const ProxyConfig& config) {
  route::CatchAll result;
  const auto& headers = config.proxy_headers();
  result.include_attempt_count = !headers.attempt_count().disabled().value();
  result.append_x_forwarded_host = headers.x_forwarded_host().enabled().value();
  const OutboundTrafficPolicy& policy = *sidecar.outbound_traffic_policy;
  // MeshConfig's modes are a superset of the Sidecar's, with the same numbers.
  if (static_cast<int>(policy.mode()) == OutboundTrafficPolicy::ALLOW_ANY) {
    result.mode = route::CatchAllMode::kPassthrough;
  } else if (static_cast<int>(policy.mode()) == MeshConfig::OutboundTrafficPolicy::ALLOW_ANY_DYNAMIC_DNS) {
    result.mode = route::CatchAllMode::kDynamicDns;
  } else {
    result.mode = route::CatchAllMode::kBlackHole;
    result.cluster = std::string(kBlackHoleCluster);
    return result;
  }
  if (policy.has_egress_proxy()) {
    const auto& proxy = policy.egress_proxy();
    result.cluster = OutboundClusterName(proxy.port().number(), proxy.subset(), proxy.host());
  }
  return result;
}

ServerFiles CollectServerFiles(const model::ProxyMetadata& metadata) {
  ServerFiles files;
  files.certificate_chain = metadata.tls_server_cert_chain;
  files.key = metadata.tls_server_key;
  files.root = metadata.tls_server_root_cert;
  if (metadata.raw != nullptr) {
    const auto found = metadata.raw->fields().find("file-credential");
    files.from_file_sds = found != metadata.raw->fields().end() && found->second.string_value() == "true";
  }
  return files;
}

// Istio falls back to the agent's default address where the metadata's cannot be read.
Interned CollectDnsProxy(const model::ProxyMetadata& metadata) {
  if (!metadata.dns_capture) return {};
  return OrElse(metadata.dns_proxy_addr, "127.0.0.1:15053");
}

}  // namespace

ProxyTraits CollectTraits(const Request& request) {
  const mesh::ProxyScope& scope = request.scope;
  const model::Proxy& proxy = *scope.proxy;
  const model::ProxyMetadata& metadata = proxy.metadata;
  ProxyTraits traits;
  traits.settings = request.snapshot.settings;
  traits.extensions = proxy.extensions;
  traits.proxy_config = CutDown(*scope.proxy_config, traits.settings->mesh->default_config());
  traits.telemetry = telemetry::CollectTelemetry(request.snapshot, proxy.ns, scope.labels);
  traits.catch_all = CollectCatchAll(*scope.sidecar, *scope.proxy_config);
  traits.version = proxy.version;
  traits.interception = metadata.interception_mode == model::InterceptionMode::kUnset
                            ? model::InterceptionMode::kRedirect
                            : metadata.interception_mode;
  traits.ipv4 = proxy.supports_ipv4;
  traits.ipv6 = proxy.supports_ipv6;
  traits.http10 = metadata.http10;
  traits.inbound_exact_balance = metadata.inbound_exact_balance;
  traits.outbound_exact_balance = metadata.outbound_exact_balance;
  if (const auto idle = ParseGoDuration(metadata.idle_timeout)) traits.idle_timeout = idle->count();
  traits.dns_proxy = CollectDnsProxy(metadata);
  traits.server_files = CollectServerFiles(metadata);
  telemetry::CollectTracing(scope, &traits);
  return traits;
}

ProxyTraits L4Traits(ProxyTraits traits) {
  traits.proxy_config = {};
  traits.tags = {};
  traits.service_cluster = {};
  traits.otel_service_name = {};
  traits.catch_all.include_attempt_count = true;
  traits.catch_all.append_x_forwarded_host = false;
  traits.version = {};
  traits.http10 = false;
  traits.dns_proxy = {};
  return traits;
}

std::vector<std::string> WildcardAddresses(const ProxyTraits& traits) {
  if (traits.ipv4 && traits.ipv6) return {"0.0.0.0", "::"};
  return {traits.ipv6 ? "::" : "0.0.0.0"};
}

std::vector<std::string> LocalhostAddresses(const ProxyTraits& traits) {
  if (traits.ipv4 && traits.ipv6) return {"127.0.0.1", "::1"};
  return {traits.ipv6 ? "::1" : "127.0.0.1"};
}

}  // namespace fairlead::gen::listener
