#include "gen/listener/traits.h"

#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/telemetry/tracing.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::mesh::v1alpha1::ProxyConfig;
using istio::networking::v1alpha3::OutboundTrafficPolicy;

// Source: Istio's GetProxyConfig fields that reach listeners; metadata that names more does not split the
// caches.
Interned CutDown(const ProxyConfig& config, const ProxyConfig& mesh_default, bool router) {
  ProxyConfig kept;
  if (config.has_proxy_headers()) *kept.mutable_proxy_headers() = config.proxy_headers();
  if (config.has_tracing()) *kept.mutable_tracing() = config.tracing();
  if (config.has_connection_settings()) {
    *kept.mutable_connection_settings() = config.connection_settings();
  } else if (mesh_default.has_connection_settings()) {
    *kept.mutable_connection_settings() = mesh_default.connection_settings();
  }
  if (router && config.has_gateway_topology()) *kept.mutable_gateway_topology() = config.gateway_topology();
  return proto::DeterministicBytes(kept);
}

route::CatchAll CollectCatchAll(mesh::View& view, const ProxyConfig& config) {
  route::CatchAll result;
  const auto& headers = config.proxy_headers();
  result.include_attempt_count = !headers.attempt_count().disabled().value();
  result.append_x_forwarded_host = headers.x_forwarded_host().enabled().value();
  const OutboundTrafficPolicy& policy = view.outbound_policy();
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

}  // namespace

ProxyTraits CollectTraits(mesh::View& view) {
  const model::ProxyClass& proxy = view.proxy_class();
  const auto proxy_config = view.proxy_config();
  ProxyTraits traits;
  traits.settings = view.settings(model::SettingsPart::kListeners);
  traits.extensions = proxy.extensions;
  traits.router = proxy.type == model::ProxyType::kRouter;
  traits.proxy_config = CutDown(*proxy_config, traits.settings->mesh->default_config(), traits.router);
  traits.telemetry = telemetry::CollectTelemetry(view);
  if (!traits.router) traits.catch_all = CollectCatchAll(view, *proxy_config);
  traits.version = proxy.version;
  traits.interception = proxy.interception;
  traits.ipv4 = proxy.ipv4;
  traits.ipv6 = proxy.ipv6;
  traits.http10 = proxy.http10;
  traits.inbound_exact_balance = proxy.inbound_exact_balance;
  traits.outbound_exact_balance = proxy.outbound_exact_balance;
  traits.idle_timeout = proxy.idle_timeout;
  traits.dns_proxy = proxy.dns_proxy;
  traits.server_files = {proxy.server_certificate, proxy.server_key, proxy.server_root,
                         proxy.file_credential_socket};
  traits.plugins = extension::CollectPlugins(view);
  const model::Features& features = traits.settings->features;
  if (traits.router || features.internal_networks || features.sidecar_remote_address)
    traits.internal_ranges = view.InternalRanges();
  telemetry::CollectTracing(view, &traits);
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
  traits.internal_ranges = {};
  traits.picks_endpoints = false;
  traits.plugins = extension::NetworkPlugins(traits.plugins);
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

std::span<const std::string> Served(const ProxyTraits& traits, std::span<const std::string> binds) {
  return traits.settings->features.dual_stack ? binds : binds.first(1);
}

}  // namespace fairlead::gen::listener
