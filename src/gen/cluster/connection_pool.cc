#include <google/protobuf/wrappers.pb.h>

#include <limits>
#include <string>

#include "base/strings.h"
#include "gen/cluster/draft.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
using Pool = api::ConnectionPoolSettings;
using Thresholds = cl::CircuitBreakers::Thresholds;

// Envoy's own limits (3 retries, 1024 requests) break circuits that nobody asked for: no limit unless one is
// set.
void SetUnlimited(Thresholds* thresholds) {
  constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();
  thresholds->mutable_max_connections()->set_value(kUnlimited);
  thresholds->mutable_max_pending_requests()->set_value(kUnlimited);
  thresholds->mutable_max_requests()->set_value(kUnlimited);
  thresholds->mutable_max_retries()->set_value(kUnlimited);
}

void SetLimits(const Pool& pool, Thresholds* thresholds) {
  const auto set = [](int32_t limit, google::protobuf::UInt32Value* out) {
    if (limit > 0) out->set_value(static_cast<uint32_t>(limit));
  };
  set(pool.http().http2_max_requests(), thresholds->mutable_max_requests());
  set(pool.http().http1_max_pending_requests(), thresholds->mutable_max_pending_requests());
  set(pool.http().max_retries(), thresholds->mutable_max_retries());
  set(pool.tcp().max_connections(), thresholds->mutable_max_connections());
}

void SetRetryBudget(const api::TrafficPolicy::RetryBudget& budget, Thresholds* thresholds) {
  constexpr double kDefaultPercent = 20.0;
  constexpr uint32_t kDefaultConcurrency = 3;
  auto* out = thresholds->mutable_retry_budget();
  out->mutable_budget_percent()->set_value(budget.has_percent() ? budget.percent().value() : kDefaultPercent);
  if (budget.has_budget_interval()) {
    // RetryBudget.budget_interval, which the Envoy API that is compiled in does not have yet.
    constexpr int kBudgetInterval = 3;
    out->GetReflection()->MutableUnknownFields(out)->AddLengthDelimited(
        kBudgetInterval, proto::DeterministicBytes(budget.budget_interval()));
  }
  const uint32_t concurrency = budget.min_retry_concurrency();
  out->mutable_min_retry_concurrency()->set_value(concurrency > 0 ? concurrency : kDefaultConcurrency);
}

// Keepalive attributes, over those set before.
void SetKeepalive(const Pool::TCPSettings::TcpKeepalive& keepalive, cl::Cluster* cluster) {
  auto* out = cluster->mutable_upstream_connection_options()->mutable_tcp_keepalive();
  if (keepalive.probes() > 0) out->mutable_keepalive_probes()->set_value(keepalive.probes());
  if (keepalive.has_time()) {
    out->mutable_keepalive_time()->set_value(static_cast<uint32_t>(keepalive.time().seconds()));
  }
  if (keepalive.has_interval()) {
    out->mutable_keepalive_interval()->set_value(static_cast<uint32_t>(keepalive.interval().seconds()));
  }
}

// What holds for HTTP/2 connections; connections whose protocol is not fixed have no place for it.
void SetHttp2Limits(const Pool::HTTPSettings& http, HttpOptions* options) {
  if (!options->explicit_http_config().has_http2_protocol_options()) return;
  auto* http2 = options->mutable_explicit_http_config()->mutable_http2_protocol_options();
  if (http.max_concurrent_streams() > 0) {
    http2->mutable_max_concurrent_streams()->set_value(static_cast<uint32_t>(http.max_concurrent_streams()));
  }
  if (http.has_http2_keep_alive()) {
    auto* keepalive = http2->mutable_connection_keepalive();
    if (http.http2_keep_alive().has_interval())
      *keepalive->mutable_interval() = http.http2_keep_alive().interval();
    if (http.http2_keep_alive().has_timeout())
      *keepalive->mutable_timeout() = http.http2_keep_alive().timeout();
  }
}

void SetHttpLimits(const Pool& pool, ClusterDraft* draft) {
  const Pool::HTTPSettings& http = pool.http();
  const bool idle = http.has_idle_timeout() || pool.tcp().has_idle_timeout();
  const bool duration = pool.tcp().has_max_connection_duration();
  if (!idle && !duration && http.max_requests_per_connection() <= 0 && http.max_concurrent_streams() <= 0 &&
      !http.has_http2_keep_alive()) {
    return;
  }
  auto* common = draft->Http().mutable_common_http_protocol_options();
  if (idle) {
    *common->mutable_idle_timeout() =
        http.has_idle_timeout() ? http.idle_timeout() : pool.tcp().idle_timeout();
  }
  if (http.max_requests_per_connection() > 0) {
    common->mutable_max_requests_per_connection()->set_value(
        static_cast<uint32_t>(http.max_requests_per_connection()));
  }
  if (duration) *common->mutable_max_connection_duration() = pool.tcp().max_connection_duration();
  SetHttp2Limits(http, &draft->Http());
}

// Counts a number of consecutive errors; 0 stands for "not at all".
void SetConsecutive(const google::protobuf::UInt32Value& errors, google::protobuf::UInt32Value* count,
                    google::protobuf::UInt32Value* enforcing) {
  count->set_value(errors.value());
  enforcing->set_value(errors.value() > 0 ? 100 : 0);
}

void SetLocalOrigin(const api::OutlierDetection& outlier, cl::OutlierDetection* out) {
  if (!outlier.split_external_local_origin_errors()) return;
  out->set_split_external_local_origin_errors(true);
  if (outlier.consecutive_local_origin_failures().value() > 0) {
    SetConsecutive(outlier.consecutive_local_origin_failures(),
                   out->mutable_consecutive_local_origin_failure(),
                   out->mutable_enforcing_consecutive_local_origin_failure());
  }
  out->mutable_enforcing_local_origin_success_rate()->set_value(0);
}

// Only the named status codes count as failures.
void SetErrorCodes(const api::OutlierDetection& outlier, HttpOptions* http) {
  auto* matcher = http->mutable_outlier_detection()->mutable_error_matcher();
  const bool several = outlier.outlier_detection_http_error_codes_size() > 1;
  for (const uint32_t code : outlier.outlier_detection_http_error_codes()) {
    auto* rule = several ? matcher->mutable_or_match()->add_rules() : matcher;
    auto* header = rule->mutable_http_response_headers_match()->add_headers();
    header->set_name(":status");
    header->mutable_string_match()->set_exact(StrCat(code));
  }
}

}  // namespace

void ApplyConnectionPool(const model::Settings& settings, const EffectivePolicy& policy,
                         ClusterDraft* draft) {
  const istio::mesh::v1alpha1::MeshConfig& mesh = *settings.mesh;
  cl::Cluster& cluster = draft->cluster;
  const Pool& pool = policy.connection_pool != nullptr ? *policy.connection_pool : Pool::default_instance();
  if (mesh.has_connect_timeout()) *cluster.mutable_connect_timeout() = mesh.connect_timeout();
  if (pool.tcp().has_connect_timeout()) *cluster.mutable_connect_timeout() = pool.tcp().connect_timeout();
  if (mesh.has_tcp_keepalive()) SetKeepalive(mesh.tcp_keepalive(), &cluster);
  if (pool.tcp().has_tcp_keepalive()) SetKeepalive(pool.tcp().tcp_keepalive(), &cluster);

  auto* thresholds = cluster.mutable_circuit_breakers()->add_thresholds();
  SetUnlimited(thresholds);
  if (!settings.features.untracked_limits) thresholds->set_track_remaining(true);
  SetLimits(pool, thresholds);
  if (policy.retry_budget != nullptr) SetRetryBudget(*policy.retry_budget, thresholds);
  SetHttpLimits(pool, draft);
  if (pool.http().use_client_protocol()) SetUseDownstreamProtocol(draft);
}

void ApplyHttp2Upgrade(const istio::mesh::v1alpha1::MeshConfig& mesh, const EffectivePolicy& policy,
                       const model::ServicePort& port, ClusterDraft* draft) {
  if (policy.connection_pool != nullptr && policy.connection_pool->has_http()) {
    const Pool::HTTPSettings& http = policy.connection_pool->http();
    if (http.use_client_protocol() || http.h2_upgrade_policy() == Pool::HTTPSettings::DO_NOT_UPGRADE) return;
    // Whoever asks for a port's upgrade knows that it speaks HTTP, whatever its name says.
    if (http.h2_upgrade_policy() == Pool::HTTPSettings::UPGRADE) return SetHttp2(draft);
  }
  if (model::IsHttp(port.protocol) &&
      mesh.h2_upgrade_policy() == istio::mesh::v1alpha1::MeshConfig::UPGRADE) {
    SetHttp2(draft);
  }
}

void ApplyOutlierDetection(const model::Features& features, const api::OutlierDetection* outlier,
                           const model::Service& service, ClusterDraft* draft) {
  if (outlier == nullptr) return;
  auto* out = draft->cluster.mutable_outlier_detection();
  out->mutable_enforcing_success_rate()->set_value(0);
  if (outlier->has_consecutive_5xx_errors()) {
    SetConsecutive(outlier->consecutive_5xx_errors(), out->mutable_consecutive_5xx(),
                   out->mutable_enforcing_consecutive_5xx());
  }
  if (outlier->has_consecutive_gateway_errors()) {
    SetConsecutive(outlier->consecutive_gateway_errors(), out->mutable_consecutive_gateway_failure(),
                   out->mutable_enforcing_consecutive_gateway_failure());
  }
  if (outlier->has_interval()) *out->mutable_interval() = outlier->interval();
  if (outlier->has_base_ejection_time()) *out->mutable_base_ejection_time() = outlier->base_ejection_time();
  if (outlier->max_ejection_percent() > 0) {
    out->mutable_max_ejection_percent()->set_value(static_cast<uint32_t>(outlier->max_ejection_percent()));
  }
  SetLocalOrigin(*outlier, out);
  // Envoy's panic threshold of 50% suits no service of a few pods: off unless set. Where unhealthy endpoints
  // are sent for the sake of locality, panic would send traffic to them.
  const bool needs_health =
      features.send_unhealthy || service.traffic_distribution != model::TrafficDistribution::kAny;
  if (outlier->min_health_percent() >= 0) {
    draft->cluster.mutable_common_lb_config()->mutable_healthy_panic_threshold()->set_value(
        needs_health ? 0 : outlier->min_health_percent());
  }
  if (outlier->outlier_detection_http_error_codes_size() > 0) SetErrorCodes(*outlier, &draft->Http());
}

}  // namespace fairlead::gen
