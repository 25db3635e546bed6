#include <string>
#include <utility>
#include <vector>

#include "gen/cluster/build.h"
#include "gen/cluster/draft.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

// Some of Istio's and Envoy's fields are deprecated and still what is set and sent.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
using Settings = api::LoadBalancerSettings;

// New endpoints get their share of traffic over a while. False where the policy does not ask for it.
bool SetSlowStart(const Settings& settings, cl::Cluster::SlowStartConfig* out) {
  constexpr double kDefaultAggression = 1, kDefaultMinimumPercent = 10;
  if (settings.has_warmup()) {
    const auto& warmup = settings.warmup();
    if (warmup.has_duration()) *out->mutable_slow_start_window() = warmup.duration();
    out->mutable_aggression()->set_default_value(warmup.has_aggression() ? warmup.aggression().value()
                                                                         : kDefaultAggression);
    // A key is required, and this one is never set: the value is no runtime setting.
    out->mutable_aggression()->set_runtime_key("(");
    out->mutable_min_weight_percent()->set_value(
        warmup.has_minimum_percent() ? warmup.minimum_percent().value() : kDefaultMinimumPercent);
    return true;
  }
  if (settings.has_warmup_duration_secs()) {
    *out->mutable_slow_start_window() = settings.warmup_duration_secs();
    return true;
  }
  return false;
}

void SetLeastRequest(const Settings& settings, cl::Cluster* cluster) {
  cluster->set_lb_policy(cl::Cluster::LEAST_REQUEST);
  cl::Cluster::SlowStartConfig slow_start;
  if (SetSlowStart(settings, &slow_start)) {
    *cluster->mutable_least_request_lb_config()->mutable_slow_start_config() = std::move(slow_start);
  }
}

void SetRoundRobin(const Settings& settings, cl::Cluster* cluster) {
  cluster->set_lb_policy(cl::Cluster::ROUND_ROBIN);
  cl::Cluster::SlowStartConfig slow_start;
  if (SetSlowStart(settings, &slow_start)) {
    *cluster->mutable_round_robin_lb_config()->mutable_slow_start_config() = std::move(slow_start);
  }
}

void SetPassthrough(cl::Cluster* cluster) {
  cluster->set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  cluster->set_type(cl::Cluster::ORIGINAL_DST);
  cluster->clear_load_assignment();
}

void SetAlgorithm(const Settings& settings, cl::Cluster* cluster) {
  switch (settings.simple()) {
    case Settings::RANDOM:
      cluster->set_lb_policy(cl::Cluster::RANDOM);
      break;
    case Settings::ROUND_ROBIN:
      SetRoundRobin(settings, cluster);
      break;
    case Settings::PASSTHROUGH:
      SetPassthrough(cluster);
      break;
    default:
      SetLeastRequest(settings, cluster);
      break;
  }
  if (settings.has_consistent_hash()) SetConsistentHash(settings, cluster);
}

void SetZoneAware(const LocalityPolicy& policy, cl::Cluster::CommonLbConfig* config) {
  auto* zone_aware = config->mutable_zone_aware_lb_config();
  // Envoy's own zone awareness is on by default: switched off, it must be said.
  if (!policy.ZoneAwareRouting()) zone_aware->mutable_routing_enabled()->set_value(0);
  if (policy.zone_aware->has_min_cluster_size()) {
    zone_aware->mutable_min_cluster_size()->set_value(policy.zone_aware->min_cluster_size().value());
  }
}

// Locality weights only where a policy needs them: they would change what least request and others choose.
void SetLocalityConfig(const LocalityPolicy& policy, bool failover, bool always,
                       cl::Cluster::CommonLbConfig* config) {
  if (policy.zone_aware != nullptr) return SetZoneAware(policy, config);
  if (policy.locality == nullptr) return;
  const auto& setting = *policy.locality;
  const bool prefers = setting.failover_size() > 0 || setting.failover_priority_size() > 0;
  if (always || setting.distribute_size() > 0 || (prefers && (failover || policy.force_failover))) {
    config->mutable_locality_weighted_lb_config();
  }
}

}  // namespace

void SetConsistentHash(const Settings& settings, cl::Cluster* cluster) {
  constexpr uint64_t kDefaultRingSize = 1024;
  const Settings::ConsistentHashLB& hash = settings.consistent_hash();
  if (hash.has_maglev()) {
    cluster->set_lb_policy(cl::Cluster::MAGLEV);
    if (const uint64_t size = hash.maglev().table_size(); size != 0) {
      cluster->mutable_maglev_lb_config()->mutable_table_size()->set_value(size);
    }
    return;
  }
  cluster->set_lb_policy(cl::Cluster::RING_HASH);
  if (hash.has_ring_hash()) {
    if (const uint64_t size = hash.ring_hash().minimum_ring_size(); size != 0) {
      cluster->mutable_ring_hash_lb_config()->mutable_minimum_ring_size()->set_value(size);
    }
    return;
  }
  const uint64_t size = hash.minimum_ring_size();
  cluster->mutable_ring_hash_lb_config()->mutable_minimum_ring_size()->set_value(
      size != 0 ? size : kDefaultRingSize);
}

void ApplyLoadBalancer(const OutboundClusterInputs& inputs, const EffectivePolicy& policy,
                       std::vector<LocalityGroup> groups, ClusterDraft* draft) {
  cl::Cluster& cluster = draft->cluster;
  if (cluster.lb_policy() == cl::Cluster::CLUSTER_PROVIDED) return;  // a dynamic forward proxy chooses itself
  // Unhealthy endpoints are among those that are sent: no panic that sends traffic to them.
  const model::Features& features = inputs.settings->features;
  if (features.send_unhealthy || features.send_unhealthy_by_default ||
      inputs.service->traffic_distribution != model::TrafficDistribution::kAny) {
    cluster.mutable_common_lb_config()->mutable_healthy_panic_threshold();
  }
  const LocalityPolicy locality =
      ResolveLocalityPolicy(*inputs.settings->mesh, policy.load_balancer, *inputs.service);
  const bool failover = policy.outlier_detection != nullptr;
  SetLocalityConfig(locality, failover, features.locality_weights, cluster.mutable_common_lb_config());
  if (!groups.empty()) {
    const EndpointClient& client = inputs.endpoints->client;
    // Subsets that resolve names do not know which endpoint is which: no priorities by labels.
    ApplyLocalityPolicy(locality, {client.locality, client.labels, client.labelled}, failover,
                        /*by_labels=*/inputs.subset.empty(), &groups);
    auto* assignment = cluster.mutable_load_assignment();
    assignment->set_cluster_name(cluster.name());
    for (LocalityGroup& group : groups) assignment->add_endpoints()->Swap(&group.message);
  }
  if (cluster.type() == cl::Cluster::ORIGINAL_DST)
    return cluster.set_lb_policy(cl::Cluster::CLUSTER_PROVIDED);
  // Clients of Redis shard by key.
  const model::ServicePort* port = inputs.service->FindTcpPort(inputs.port);
  if (features.redis_filter && port != nullptr && port->protocol == model::Protocol::kRedis)
    return cluster.set_lb_policy(cl::Cluster::MAGLEV);
  SetAlgorithm(policy.load_balancer != nullptr ? *policy.load_balancer : Settings::default_instance(),
               &cluster);
}

}  // namespace fairlead::gen
