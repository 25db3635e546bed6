#include "gen/route/retry.h"

#include "envoy/config/route/v3/route.pb.h"
#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/expect_message.h"
#include "gen/route/inbound.h"
#include "gen/route/retry_on.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

constexpr char kPrevious[] =
    " retry_host_predicate { name: 'envoy.retry_host_predicates.previous_hosts' typed_config { "
    "type_url: 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate' } "
    "}";
constexpr char kDefaults[] =
    "num_retries { value: 2 } host_selection_retry_max_attempts: 5 retry_on: "
    "'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes'";

envoy::config::route::v3::RetryPolicy Build(const char* policy, bool hash = false) {
  const auto retry = FromText<istio::networking::v1alpha3::HTTPRetry>(policy);
  envoy::config::route::v3::RouteAction out;
  BuildRetryPolicy(&retry, hash, &out);
  return out.retry_policy();
}

TEST(BuildRetryPolicy, HasDefaultsWithoutAPolicy) {
  envoy::config::route::v3::RouteAction out;
  BuildRetryPolicy(nullptr, false, &out);
  ExpectMessage(out.retry_policy(), StrCat(kDefaults, kPrevious));
  out.Clear();
  BuildRetryPolicy(nullptr, true, &out);
  ExpectMessage(out.retry_policy(), kDefaults);
}

constexpr char kInboundDefaults[] = "num_retries { value: 2 } retry_on: 'reset-before-request'";

envoy::config::route::v3::RouteAction BuildInbound(const istio::networking::v1alpha3::HTTPRetry* retries,
                                                   model::Protocol protocol = model::Protocol::kHttp) {
  envoy::config::route::v3::RouteConfiguration out;
  BuildInboundRouteConfiguration({"inbound|80||", "a:80/*", 80, protocol, retries}, &out);
  return out.virtual_hosts(0).routes(0).route();
}

TEST(InboundRetries, AreTheMeshsElseTheDefault) {
  ExpectMessage(BuildInbound(nullptr).retry_policy(), kInboundDefaults);
  auto own = FromText<istio::networking::v1alpha3::HTTPRetry>("attempts: 1");
  ExpectMessage(BuildInbound(&own).retry_policy(),
                "num_retries { value: 1 } retry_on: 'reset-before-request'");
  own = FromText<istio::networking::v1alpha3::HTTPRetry>(
      "attempts: 3 retry_on: '5xx,503' backoff { seconds: 1 } per_try_timeout { seconds: 9 }");
  ExpectMessage(BuildInbound(&own).retry_policy(),
                "num_retries { value: 3 } retry_on: '5xx,retriable-status-codes' retriable_status_codes: 503 "
                "retry_back_off { base_interval { seconds: 1 } }");
}

TEST(InboundRetries, NeitherWithoutAttemptsNorOfGrpc) {
  const istio::networking::v1alpha3::HTTPRetry none;
  EXPECT_FALSE(BuildInbound(&none).has_retry_policy());
  EXPECT_FALSE(BuildInbound(nullptr, model::Protocol::kGrpc).has_retry_policy());
}

TEST(BuildRetryPolicy, NoAttemptsIsNoPolicy) {
  const istio::networking::v1alpha3::HTTPRetry none;
  envoy::config::route::v3::RouteAction out;
  BuildRetryPolicy(&none, false, &out);
  EXPECT_FALSE(out.has_retry_policy());
}

TEST(BuildRetryPolicy, TakesWhatAUserSays) {
  ExpectMessage(
      Build("attempts: 3 per_try_timeout { seconds: 2 } retry_on: 'gateway-error, 503' backoff { nanos: "
            "25000000 } retry_remote_localities { value: true }"),
      StrCat("num_retries { value: 3 } host_selection_retry_max_attempts: 5 retry_on: "
             "'gateway-error,retriable-status-codes' retriable_status_codes: 503 per_try_timeout { seconds: "
             "2 } retry_back_off { base_interval { nanos: 25000000 } } retry_priority { name: "
             "'envoy.retry_priorities.previous_priorities' typed_config { "
             "[type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3."
             "PreviousPrioritiesConfig] { update_frequency: 2 } } }",
             kPrevious));
}

TEST(BuildRetryPolicy, PreviousHostsAreUpToTheUser) {
  EXPECT_EQ(Build("attempts: 1 retry_ignore_previous_hosts { value: false }").retry_host_predicate_size(), 0);
  EXPECT_EQ(
      Build("attempts: 1 retry_ignore_previous_hosts { value: true }", true).retry_host_predicate_size(), 1);
  EXPECT_EQ(Build("attempts: 1", true).retry_host_predicate_size(), 0);
}

TEST(ParseRetryOn, TellsCodesFromConditions) {
  EXPECT_EQ(ParseRetryOn("5xx,").conditions, "5xx");
  EXPECT_EQ(ParseRetryOn("503").conditions, ",retriable-status-codes");
  EXPECT_EQ(ParseRetryOn("retriable-status-codes,429").conditions, "retriable-status-codes");
  EXPECT_EQ(ParseRetryOn("599,+503").conditions, "599,retriable-status-codes");
  EXPECT_EQ(ParseRetryOn("429,503").codes, (std::vector<uint32_t>{429, 503}));
}

}  // namespace
}  // namespace fairlead::gen::route
