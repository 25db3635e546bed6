#include <google/protobuf/any.pb.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster.pb.h"
#include "envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/draft.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/lookup_family.h"
#include "gen/naming/stat_name.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
namespace dfp = envoy::extensions::common::dynamic_forward_proxy::v3;

constexpr std::string_view kExternalSecretsCluster = "sds-external";
constexpr std::string_view kCredentialSocket = "./var/run/secrets/credential-uds/socket";

void Name(std::string_view name, const FixedInputs& inputs, cl::Cluster* cluster) {
  cluster->set_name(std::string(name));
  cluster->set_alt_stat_name(StatName(name));
  if (inputs.settings->mesh->has_connect_timeout()) {
    *cluster->mutable_connect_timeout() = inputs.settings->mesh->connect_timeout();
  }
}

// Whatever comes is passed on as it came: HTTP by the client's version. Packed at once: no pool setting
// changes it.
void SetPassthroughHttp(const FixedInputs& inputs, cl::Cluster* cluster) {
  constexpr int64_t kIdleSeconds = 300;
  ClusterDraft options;
  proto::SetSeconds(kIdleSeconds,
                    options.Http().mutable_common_http_protocol_options()->mutable_idle_timeout());
  SetUseDownstreamProtocol(&options);
  if (inputs.traits.preserve_header_case) {
    SetPreserveCase(options.Http().mutable_use_downstream_protocol_config()->mutable_http_protocol_options());
  }
  *cluster->mutable_typed_extension_protocol_options() = options.Finish().typed_extension_protocol_options();
}

cl::Cluster BuildBlackHole(const FixedInputs& inputs) {
  cl::Cluster cluster;
  Name(kBlackHoleCluster, inputs, &cluster);
  cluster.set_type(cl::Cluster::STATIC);
  return cluster;
}

// The pool's limits without its HTTP settings, which would replace the ones above.
void ApplyLimits(const EffectivePolicy& policy, const FixedInputs& inputs, cl::Cluster* cluster) {
  ClusterDraft draft;
  draft.cluster = std::move(*cluster);
  ApplyConnectionPool(*inputs.settings, policy, &draft);
  *cluster = std::move(draft.cluster);
}

cl::Cluster BuildPassthrough(const FixedInputs& inputs) {
  cl::Cluster cluster;
  Name(kPassthroughCluster, inputs, &cluster);
  cluster.set_type(cl::Cluster::ORIGINAL_DST);
  cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  SetPassthroughHttp(inputs, &cluster);
  const auto& defaults = inputs.settings->mesh->default_traffic_policy();
  EffectivePolicy policy;
  if (defaults.has_connection_pool()) policy.connection_pool = &defaults.connection_pool();
  ApplyLimits(policy, inputs, &cluster);
  return cluster;
}

// From these source addresses, iptables lets the proxy reach its own workload; statistics stay under the
// outbound name.
cl::Cluster BuildInboundPassthrough(const FixedInputs& inputs) {
  cl::Cluster cluster = BuildPassthrough(inputs);
  cluster.set_name(std::string(kInboundPassthroughCluster));
  auto* bind = cluster.mutable_upstream_bind_config();
  proto::SetSocketAddress(inputs.traits.ipv4 ? "127.0.0.6" : "::6", 0, bind->mutable_source_address());
  if (inputs.traits.ipv4 && inputs.traits.ipv6) {
    proto::SetSocketAddress("::6", 0, bind->add_extra_source_addresses()->mutable_address());
  }
  return cluster;
}

// The agent's DNS proxy, as "host:port"; where that cannot be read, where it listens by default.
void SetDnsProxy(std::string_view address, dfp::DnsCacheConfig* cache) {
  std::string host = "127.0.0.1";
  uint32_t port = 15053;
  const size_t colon = address.rfind(':');
  if (colon != std::string_view::npos) {
    host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  }
  envoy::extensions::network::dns_resolver::cares::v3::CaresDnsResolverConfig resolver;
  proto::SetSocketAddress(host, port, resolver.add_resolvers()->mutable_socket_address());
  cache->mutable_typed_dns_resolver_config()->set_name("envoy.network.dns_resolver.cares");
  proto::Pack(resolver, cache->mutable_typed_dns_resolver_config()->mutable_typed_config());
}

cl::Cluster BuildAllowAnyDynamicDns(const FixedInputs& inputs) {
  const auto& policy = inputs.settings->mesh->outbound_traffic_policy();
  const bool tls = policy.has_tls() && policy.tls().mode() != api::ClientTLSSettings::DISABLE;
  ClusterDraft draft;
  draft.dynamic_forward_proxy = true;
  Name(kAllowAnyDynamicDnsCluster, inputs, &draft.cluster);
  draft.cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  envoy::extensions::clusters::dynamic_forward_proxy::v3::ClusterConfig config;
  auto* cache = config.mutable_dns_cache_config();
  cache->set_name(std::string(kAllowAnyDnsCache));
  cache->mutable_max_hosts()->set_value(static_cast<uint32_t>(inputs.settings->features.dynamic_dns_hosts));
  cache->set_dns_lookup_family(
      LookupFamily(inputs.settings->features, inputs.instance_ipv4, inputs.instance_ipv6));
  if (!inputs.dns_proxy_address.empty()) SetDnsProxy(inputs.dns_proxy_address, cache);
  config.set_allow_insecure_cluster_options(!tls);
  draft.cluster.mutable_cluster_type()->set_name("envoy.clusters.dynamic_forward_proxy");
  proto::Pack(config, draft.cluster.mutable_cluster_type()->mutable_typed_config());
  SetPassthroughHttp(inputs, &draft.cluster);
  ApplyConnectionPool(*inputs.settings, {}, &draft);
  if (tls) ApplyFixedTls(policy.tls(), inputs, &draft);
  AddMetadataExchange(inputs.settings->features, inputs.traits, &draft.cluster);
  return draft.Finish();
}

// The SDS server behind a socket of the proxy's own.
cl::Cluster BuildExternalSecrets(const FixedInputs& inputs) {
  ClusterDraft draft;
  Name(kExternalSecretsCluster, inputs, &draft.cluster);
  draft.cluster.set_type(cl::Cluster::STATIC);
  auto* assignment = draft.cluster.mutable_load_assignment();
  assignment->set_cluster_name(draft.cluster.name());
  proto::SetAddress(kCredentialSocket, 0,
                    assignment->add_endpoints()->add_lb_endpoints()->mutable_endpoint()->mutable_address());
  SetHttp2(&draft);
  return draft.Finish();
}

}  // namespace

cl::Cluster BuildFixed(const FixedInputs& inputs) {
  switch (inputs.kind) {
    case FixedInputs::Kind::kPassthrough: {
      cl::Cluster cluster = BuildPassthrough(inputs);
      AddMetadataExchange(inputs.settings->features, inputs.traits, &cluster);
      return cluster;
    }
    case FixedInputs::Kind::kInboundPassthrough:
      return BuildInboundPassthrough(inputs);
    case FixedInputs::Kind::kAllowAnyDynamicDns:
      return BuildAllowAnyDynamicDns(inputs);
    case FixedInputs::Kind::kExternalSecrets:
      return BuildExternalSecrets(inputs);
    case FixedInputs::Kind::kBlackHole:
      break;
  }
  return BuildBlackHole(inputs);
}

}  // namespace fairlead::gen
