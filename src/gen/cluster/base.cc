#include <google/protobuf/any.pb.h>
#include <google/protobuf/struct.pb.h>

#include <string>
#include <utility>

#include "base/strings.h"
#include "config/object.h"
#include "envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.pb.h"
#include "gen/cluster/draft.h"
#include "gen/naming/lookup_family.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

// Some of Istio's and Envoy's fields are deprecated and still what is set and sent.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;

constexpr char kHttpOptionsKey[] = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
constexpr std::string_view kMetadataExchange = "istio.metadata_exchange";

// How names are resolved: c-ares with few queries a socket, so that a lost UDP socket does not stop
// resolution; the records' own times to live; a little jitter, so that clients do not ask in step.
void SetResolution(const model::Settings& settings, const ClusterTraits& traits,
                   const model::Service& service, cl::Cluster* cluster) {
  cluster->set_dns_lookup_family(LookupFamily(settings.features, traits.ipv4, traits.ipv6));
  if (RacesConnections(service)) cluster->set_dns_lookup_family(cl::Cluster::ALL);
  envoy::extensions::network::dns_resolver::cares::v3::CaresDnsResolverConfig resolver;
  resolver.mutable_udp_max_queries()->set_value(
      static_cast<uint32_t>(settings.features.dns_queries_per_socket));
  auto* typed = cluster->mutable_typed_dns_resolver_config();
  typed->set_name("envoy.network.dns_resolver.cares");
  proto::Pack(resolver, typed->mutable_typed_config());
  proto::SetNanoseconds(settings.features.dns_jitter.count(), cluster->mutable_dns_jitter());
  if (settings.mesh->has_dns_refresh_rate())
    *cluster->mutable_dns_refresh_rate() = settings.mesh->dns_refresh_rate();
  cluster->set_respect_dns_ttl(true);
}

// A ServiceEntry of resolution NONE may send a port's traffic to another port of the same address.
void SetPortOverride(const model::Service& service, uint32_t target_port, cl::Cluster* cluster) {
  if (service.registry != model::Registry::kExternal || service.resolution != model::Resolution::kPassthrough)
    return;
  if (target_port == 0) return;
  cluster->mutable_original_dst_lb_config()->mutable_upstream_port_override()->set_value(target_port);
}

}  // namespace

cl::Cluster ClusterDraft::Finish() {
  if (http) {
    // Envoy requires one of the ways to choose a protocol.
    if (http->upstream_protocol_options_case() == HttpOptions::UPSTREAM_PROTOCOL_OPTIONS_NOT_SET) {
      http->mutable_explicit_http_config()->mutable_http_protocol_options();
    }
    auto& options = *cluster.mutable_typed_extension_protocol_options();
    options.clear();
    proto::Pack(*http, &options[kHttpOptionsKey]);
  }
  return std::move(cluster);
}

bool Ipv6Only(const ClusterTraits& traits) { return traits.ipv6 && !traits.ipv4; }

bool UsesDns(const model::Service& service) {
  return service.resolution == model::Resolution::kDnsLb ||
         service.resolution == model::Resolution::kDnsRoundRobinLb;
}

bool RacesConnections(const model::Service& service) {
  if (service.source == nullptr || service.registry != model::Registry::kExternal) return false;
  const std::string_view strategy = LabelOr(service.source->meta().annotations, "istio.io/connect-strategy");
  return EqualsIgnoreCase(strategy, "RACE_FIRST_TCP_CONNECT");
}

void StartCluster(std::string name, cl::Cluster::DiscoveryType type, const model::Settings& settings,
                  const ClusterTraits& traits, const model::Service& service, ClusterDraft* draft) {
  cl::Cluster& cluster = draft->cluster;
  cluster.set_alt_stat_name(StatName(name));
  cluster.set_name(std::move(name));
  cluster.set_type(type);
  cluster.mutable_common_lb_config();
  if (type == cl::Cluster::STRICT_DNS || type == cl::Cluster::LOGICAL_DNS) {
    SetResolution(settings, traits, service, &cluster);
  }
}

void SetOriginalPort(const model::Service& service, const model::ServicePort& port, cl::Cluster* cluster) {
  if (cluster->type() == cl::Cluster::ORIGINAL_DST) SetPortOverride(service, port.target_port, cluster);
}

void SetHttp2(ClusterDraft* draft) {
  HttpOptions& http = draft->Http();
  if (http.upstream_protocol_options_case() != HttpOptions::UPSTREAM_PROTOCOL_OPTIONS_NOT_SET) return;
  http.mutable_explicit_http_config()->mutable_http2_protocol_options();
}

void SetPreserveCase(envoy::config::core::v3::Http1ProtocolOptions* http1) {
  auto* formatter = http1->mutable_header_key_format()->mutable_stateful_formatter();
  formatter->set_name("preserve_case");
  proto::PackEmpty("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig",
                   formatter->mutable_typed_config());
}

void SetUseDownstreamProtocol(ClusterDraft* draft) {
  HttpOptions& http = draft->Http();
  envoy::config::core::v3::Http1ProtocolOptions http1;
  if (http.explicit_http_config().has_http_protocol_options()) {
    http1 = http.explicit_http_config().http_protocol_options();
  }
  auto* downstream = http.mutable_use_downstream_protocol_config();
  *downstream->mutable_http_protocol_options() = std::move(http1);
  downstream->mutable_http2_protocol_options();
}

void SetUpstreamProtocol(const model::ServicePort& port, const ClusterTraits& traits, ClusterDraft* draft) {
  if (model::IsHttp2(port.protocol)) return SetHttp2(draft);
  const bool detected = port.protocol == model::Protocol::kUnsupported;
  if (traits.preserve_header_case && (detected || model::IsHttp(port.protocol))) {
    SetPreserveCase(draft->Http().mutable_explicit_http_config()->mutable_http_protocol_options());
  }
  // A gateway does not detect protocols: it would offer h2 to whoever asks, and the upstream may not have it.
  if (detected && traits.type != model::ProxyType::kRouter) SetUseDownstreamProtocol(draft);
}

void SetEds(cl::Cluster* cluster) {
  if (!cluster->has_type() || cluster->type() != cl::Cluster::EDS) return;
  auto* eds = cluster->mutable_eds_cluster_config();
  eds->set_service_name(cluster->name());
  proto::SetAds(/*wait=*/true, eds->mutable_eds_config());
}

void AddMetadataExchange(const model::Features& features, const ClusterTraits& traits, cl::Cluster* cluster) {
  if (!features.metadata_exchange || !traits.metadata_exchange) return;
  auto* filter = cluster->add_filters();
  filter->set_name(std::string(kMetadataExchange));
  PackTcpMetadataExchange(features, filter->mutable_typed_config());
}

}  // namespace fairlead::gen
