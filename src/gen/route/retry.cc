#include "gen/route/retry.h"

#include "envoy/config/route/v3/route_components.pb.h"
#include "envoy/extensions/retry/priority/previous_priorities/v3/previous_priorities_config.pb.h"
#include "gen/route/retry_on.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

constexpr char kDefaultConditions[] =
    "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";

void AvoidPreviousHosts(pb::RetryPolicy* out) {
  auto* predicate = out->add_retry_host_predicate();
  predicate->set_name("envoy.retry_host_predicates.previous_hosts");
  proto::PackEmpty("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
                   predicate->mutable_typed_config());
}

void PreferOtherLocalities(pb::RetryPolicy* out) {
  envoy::extensions::retry::priority::previous_priorities::v3::PreviousPrioritiesConfig config;
  config.set_update_frequency(2);
  out->mutable_retry_priority()->set_name("envoy.retry_priorities.previous_priorities");
  proto::Pack(config, out->mutable_retry_priority()->mutable_typed_config());
}

void ApplyOwnPolicy(const api::HTTPRetry& policy, pb::RetryPolicy* out) {
  out->mutable_num_retries()->set_value(static_cast<uint32_t>(policy.attempts()));
  if (!policy.retry_on().empty()) SetRetryOn(policy.retry_on(), out);
  if (policy.has_per_try_timeout()) *out->mutable_per_try_timeout() = policy.per_try_timeout();
  if (policy.retry_remote_localities().value()) PreferOtherLocalities(out);
  if (policy.has_backoff()) *out->mutable_retry_back_off()->mutable_base_interval() = policy.backoff();
}

}  // namespace

void BuildRetryPolicy(const api::HTTPRetry* policy, bool consistent_hash, pb::RouteAction* action) {
  if (policy != nullptr && policy->attempts() <= 0) return;
  pb::RetryPolicy* out = action->mutable_retry_policy();
  out->mutable_num_retries()->set_value(2);
  out->set_retry_on(kDefaultConditions);
  out->set_host_selection_retry_max_attempts(5);
  if (policy != nullptr) ApplyOwnPolicy(*policy, out);
  const bool explicitly = policy != nullptr && policy->has_retry_ignore_previous_hosts();
  if (explicitly ? policy->retry_ignore_previous_hosts().value() : !consistent_hash) AvoidPreviousHosts(out);
}

}  // namespace fairlead::gen::route
