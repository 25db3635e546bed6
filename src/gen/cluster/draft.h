#ifndef FAIRLEAD_GEN_CLUSTER_DRAFT_H_
#define FAIRLEAD_GEN_CLUSTER_DRAFT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/extensions/upstreams/http/v3/http_protocol_options.pb.h"
#include "gen/cluster/inputs.h"
#include "gen/policy/locality_lb.h"
#include "gen/policy/traffic_policy.h"

// The steps that clusters are built of, each the work of one part of a traffic policy. For the sources of
// this folder.
namespace fairlead::gen {

using HttpOptions = envoy::extensions::upstreams::http::v3::HttpProtocolOptions;

// A cluster on its way: the message, and its HTTP options while they are not packed yet.
struct ClusterDraft {
  envoy::config::cluster::v3::Cluster cluster;
  std::optional<HttpOptions> http;
  bool dynamic_forward_proxy = false;

  HttpOptions& Http() { return http ? *http : http.emplace(); }
  bool ExplicitHttp2() const { return http && http->explicit_http_config().has_http2_protocol_options(); }
  // The message with its HTTP options packed in; the draft is used up.
  envoy::config::cluster::v3::Cluster Finish();
};

// --- base.cc
// Name, statistics name, discovery type; for clusters that resolve names, how they do.
void StartCluster(std::string name, envoy::config::cluster::v3::Cluster::DiscoveryType type,
                  const model::Settings& settings, const ClusterTraits& traits, const model::Service& service,
                  ClusterDraft* draft);
// The port that connections to the original destination go to, where a ServiceEntry names another.
void SetOriginalPort(const model::Service& service, const model::ServicePort& port,
                     envoy::config::cluster::v3::Cluster* cluster);
// HTTP/2 for ports that say so, the client's protocol for ports that say nothing.
void SetUpstreamProtocol(const model::ServicePort& port, const ClusterTraits& traits, ClusterDraft* draft);
void SetHttp2(ClusterDraft* draft);  // unless a protocol is set already
void SetUseDownstreamProtocol(ClusterDraft* draft);
void SetPreserveCase(envoy::config::core::v3::Http1ProtocolOptions* http1);
// The endpoints come over the same ADS stream, under the cluster's own name.
void SetEds(envoy::config::cluster::v3::Cluster* cluster);
void AddMetadataExchange(const model::Features& features, const ClusterTraits& traits,
                         envoy::config::cluster::v3::Cluster* cluster);
bool Ipv6Only(const ClusterTraits& traits);
bool UsesDns(const model::Service& service);
// Asks for all addresses of a name and takes the one that answers first (annotation
// istio.io/connect-strategy).
bool RacesConnections(const model::Service& service);

// --- connection_pool.cc
void ApplyConnectionPool(const model::Settings& settings, const EffectivePolicy& policy, ClusterDraft* draft);
// HTTP/2 where a pool or the mesh asks for it; before ApplyConnectionPool, which has settings for HTTP/2.
void ApplyHttp2Upgrade(const istio::mesh::v1alpha1::MeshConfig& mesh, const EffectivePolicy& policy,
                       const model::ServicePort& port, ClusterDraft* draft);
void ApplyOutlierDetection(const model::Features& features, const api::OutlierDetection* outlier,
                           const model::Service& service, ClusterDraft* draft);

// --- load_balancer.cc
// `groups`: the inline endpoints of a cluster that resolves names, empty for others; they are put into the
// cluster.
void ApplyLoadBalancer(const OutboundClusterInputs& inputs, const EffectivePolicy& policy,
                       std::vector<LocalityGroup> groups, ClusterDraft* draft);

// --- tls.cc
// TLS as the policy says, or mutual TLS as may be assumed; then the PROXY protocol around it. `sni`: of
// mutual TLS.
void ApplyUpstreamTls(const OutboundClusterInputs& inputs, const EffectivePolicy& policy,
                      std::string_view sni, ClusterDraft* draft);
void ApplyProxyProtocol(const EffectivePolicy& policy, envoy::config::cluster::v3::Cluster* cluster);
// TLS of the cluster for all unknown hosts.
void ApplyFixedTls(const api::ClientTLSSettings& tls, const FixedInputs& inputs, ClusterDraft* draft);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_CLUSTER_DRAFT_H_
