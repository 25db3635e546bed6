#include "gen/route/http_route.h"

#include "gen/route/expect_message.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

constexpr char kForward[] = "route { destination { host: 'a.com' } } ";

class HttpRouteTest : public ::testing::Test {
 protected:
  HttpRouteTest() {
    options_.port = 80;
    options_.gateways = &gateways_;
    options_.client_labels = &labels_;
    options_.client_namespace = "default";
    options_.cluster_of = [](const api::Destination& d) {
      return "outbound|80|" + d.subset() + "|" + d.host();
    };
    options_.hash_of = [this](const api::Destination&) { return hash_; };
  }

  std::vector<pb::Route> Routes(std::string_view http, LabelMap annotations = {}) {
    return BuildHttpRoutes(*TestVirtualService("v", StrCat("hosts: 'a.com' ", http), std::move(annotations)),
                           options_);
  }
  // The only route that `body`, in an HTTPRoute, gives.
  pb::Route Route(std::string_view body) {
    std::vector<pb::Route> routes = Routes(StrCat("http { ", body, " }"));
    EXPECT_EQ(routes.size(), 1u);
    return routes.empty() ? pb::Route() : routes.front();
  }

  StringSet gateways_{"mesh"};
  LabelMap labels_{{"app", "client"}, {"version", "v1"}};
  const ConsistentHash* hash_ = nullptr;
  RouteOptions options_;
};

TEST_F(HttpRouteTest, NamesTheRouteAndItsOrigin) {
  const pb::Route route = Route(
      "name: 'r' match { name: 'm' uri { exact: '/p' } stat_prefix: 's' } route { destination { host: "
      "'a.com' } }");
  EXPECT_EQ(route.name(), "r.m");
  EXPECT_EQ(route.stat_prefix(), "s");
  EXPECT_EQ(route.decorator().operation(), "a.com:80/p");
  EXPECT_EQ(route.metadata().filter_metadata().at("istio").fields().at("config").string_value(),
            "/apis/networking.istio.io/v1/namespaces/default/virtual-service/v");
}

TEST_F(HttpRouteTest, OperationNamesTheVirtualServiceWhereClustersAreMany) {
  EXPECT_EQ(
      Route("route { weight: 1 destination { host: 'a' } } route { weight: 2 destination { host: 'b' } }")
          .decorator()
          .operation(),
      "v:80/*");
}

TEST_F(HttpRouteTest, NothingComesBehindACatchAll) {
  const auto routes = Routes(
      "http { match { uri { prefix: '/x' } } match { uri { prefix: '/' } } match { uri { prefix: '/y' } } "
      "route { destination { host: 'a.com' } } } http { route { destination { host: 'b.com' } } }");
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[1].match().prefix(), "/");
}

TEST_F(HttpRouteTest, MatchesAreForListenersAndClients) {
  const auto applies = [this](const char* match) {
    return !Routes(StrCat("http { match { ", match, " } route { destination { host: 'a.com' } } }")).empty();
  };
  EXPECT_TRUE(applies("port: 80"));
  EXPECT_FALSE(applies("port: 81"));
  EXPECT_TRUE(applies("source_labels { key: 'app' value: 'client' }"));
  EXPECT_FALSE(applies("source_labels { key: 'app' value: 'other' }"));
  EXPECT_FALSE(applies("source_labels { key: 'tier' value: '' }"));
  EXPECT_TRUE(applies("source_namespace: 'default'"));
  EXPECT_FALSE(applies("source_namespace: 'shop'"));
  EXPECT_TRUE(applies("gateways: 'default/g' gateways: 'mesh'"));
  EXPECT_FALSE(applies("gateways: 'default/g'"));
  // Gateways, where named, decide alone.
  EXPECT_TRUE(applies("gateways: 'mesh' source_namespace: 'shop'"));
  options_.client_labels = nullptr;
  EXPECT_FALSE(applies("source_labels { key: 'app' value: 'client' }"));
}

TEST_F(HttpRouteTest, TimeoutsHoldForGrpcToo) {
  const auto timeouts = [this](std::string_view timeout) {
    pb::RouteAction action = Route(StrCat(kForward, timeout)).route();
    action.clear_cluster();
    action.clear_retry_policy();
    return action;
  };
  ExpectMessage(timeouts(""), "timeout {} max_grpc_timeout {}");
  ExpectMessage(timeouts("timeout { seconds: 5 }"), "timeout { seconds: 5 } max_grpc_timeout { seconds: 5 }");
}

TEST_F(HttpRouteTest, WeightsLeaveOutWhatHasNone) {
  const pb::Route route = Route(
      "route { weight: 25 destination { host: 'a' subset: 'v1' } } route { destination { host: 'a' subset: "
      "'v2' } } route { weight: 75 destination { host: 'a' subset: 'v3' } headers { request { set { key: "
      "'host' value: 'h' } add { key: 'x' value: '1' } remove: 'y' } } }");
  ExpectMessage(
      route.route().weighted_clusters(),
      "clusters { name: 'outbound|80|v1|a' weight { value: 25 } } clusters { name: 'outbound|80|v3|a' weight "
      "{ value: 75 } host_rewrite_literal: 'h' request_headers_to_add { header { key: 'x' value: '1' } "
      "append_action: APPEND_IF_EXISTS_OR_ADD } request_headers_to_remove: 'y' }");
}

TEST_F(HttpRouteTest, HeadersOfTheOnlyDestinationComeAfterTheRoutes) {
  const pb::Route route = Route(
      "headers { request { add { key: 'x' value: 'route' } set { key: ':authority' value: 'r' } } response { "
      "remove: ':status' remove: 'z' } } route { destination { host: 'a' } headers { request { set { key: "
      "'x' value: 'destination' } set { key: 'Host' value: 'd' } } } }");
  ASSERT_EQ(route.request_headers_to_add_size(), 2);
  EXPECT_EQ(route.request_headers_to_add(0).header().value(), "route");
  EXPECT_EQ(route.request_headers_to_add(1).header().value(), "destination");
  EXPECT_EQ(route.request_headers_to_add(1).append_action(),
            envoy::config::core::v3::HeaderValueOption::OVERWRITE_IF_EXISTS_OR_ADD);
  EXPECT_EQ(route.route().host_rewrite_literal(), "r");
  ASSERT_EQ(route.response_headers_to_remove_size(), 1);
  EXPECT_EQ(route.response_headers_to_remove(0), "z");
}

TEST_F(HttpRouteTest, Rewrites) {
  EXPECT_EQ(Route(StrCat(kForward, "rewrite { uri: '/new' }")).route().prefix_rewrite(), "/new");
  const pb::Route regex =
      Route(StrCat(kForward, "rewrite { uri_regex_rewrite { match: 'a' rewrite: 'b' } authority: 'h' }"));
  ExpectMessage(regex.route().regex_rewrite(), "pattern { regex: 'a' } substitution: 'b'");
  EXPECT_EQ(regex.route().host_rewrite_literal(), "h");
  EXPECT_FALSE(regex.route().append_x_forwarded_host());
  options_.append_x_forwarded_host = true;
  EXPECT_TRUE(Route(StrCat(kForward, "rewrite { authority: 'h' }")).route().append_x_forwarded_host());
  EXPECT_FALSE(Route(kForward).route().append_x_forwarded_host());
}

TEST_F(HttpRouteTest, GatewayApiRoutesRemovePrefixesAndRefuseMissingBackends) {
  const auto routes = Routes(
      "http { match { uri { prefix: '/a.b' } } rewrite { uri: '/' } route { destination { host: 'a' } } }",
      {{"internal.istio.io/route-semantics", "gateway"}});
  ASSERT_EQ(routes.size(), 1u);
  ExpectMessage(routes[0].route().regex_rewrite(),
                R"re(pattern { regex: "^/a\\.b(/?)(.*)" } substitution: "/\\2")re");
  EXPECT_EQ(routes[0].route().cluster_not_found_response_code(), pb::RouteAction::INTERNAL_SERVER_ERROR);
}

TEST_F(HttpRouteTest, Mirrors) {
  const pb::Route route =
      Route(StrCat(kForward,
                   "mirrors { destination { host: 'm' } percentage { value: 12.5 } } mirrors { destination { "
                   "host: 'n' } } mirrors { destination { host: 'o' } percentage {} }"));
  ASSERT_EQ(route.route().request_mirror_policies_size(), 2);
  ExpectMessage(route.route().request_mirror_policies(0),
                "cluster: 'outbound|80||m' runtime_fraction { default_value { numerator: 125000 denominator: "
                "MILLION } } trace_sampled {} disable_shadow_host_suffix_append: true");
  EXPECT_EQ(route.route().request_mirror_policies(1).runtime_fraction().default_value().numerator(), 100u);
  EXPECT_EQ(Route(StrCat(kForward, "mirror { host: 'm' } mirror_percent { value: 30 }"))
                .route()
                .request_mirror_policies(0)
                .runtime_fraction()
                .default_value()
                .numerator(),
            30u);
  EXPECT_EQ(Route(StrCat(kForward, "mirror { host: 'm' } mirror_percent {}"))
                .route()
                .request_mirror_policies_size(),
            0);
}

TEST_F(HttpRouteTest, Redirects) {
  ExpectMessage(
      Route("redirect { authority: 'b.com' uri: '/x' redirect_code: 308 scheme: 'https' port: 443 }")
          .redirect(),
      "host_redirect: 'b.com' path_redirect: '/x' scheme_redirect: 'https' response_code: "
      "PERMANENT_REDIRECT");
  options_.port = 8080;
  ExpectMessage(Route("redirect { prefix_rewrite: '/p' derive_port: FROM_REQUEST_PORT }").redirect(),
                "prefix_rewrite: '/p' port_redirect: 8080");
  EXPECT_EQ(Route("redirect { redirect_code: 304 }").action_case(), pb::Route::ACTION_NOT_SET);
}

TEST_F(HttpRouteTest, DirectResponses) {
  ExpectMessage(Route("direct_response { status: 418 body { string: 'tea' } }").direct_response(),
                "status: 418 body { inline_string: 'tea' }");
  ExpectMessage(Route("direct_response { status: 200 body { bytes: 'x' } }").direct_response(),
                "status: 200 body { inline_bytes: 'x' }");
}

TEST_F(HttpRouteTest, FaultsAndCorsAreFilterConfigurations) {
  const pb::Route route = Route(StrCat(
      kForward,
      "fault { delay { percentage { value: 10 } fixed_delay { seconds: 1 } } abort { grpc_status: "
      "'UNAVAILABLE' percentage { value: 1 } } } cors_policy { allow_origins { exact: 'o' } allow_methods: "
      "'GET' allow_methods: 'PUT' max_age { seconds: 60 } unmatched_preflights: IGNORE }"));
  pb::Route filters;
  *filters.mutable_typed_per_filter_config() = route.typed_per_filter_config();
  ExpectMessage(filters, R"(
    typed_per_filter_config { key: "envoy.filters.http.fault" value { [type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault] {
      delay { percentage { numerator: 100000 denominator: MILLION } fixed_delay { seconds: 1 } }
      abort { percentage { numerator: 10000 denominator: MILLION } grpc_status: 14 } } } }
    typed_per_filter_config { key: "envoy.filters.http.cors" value { [type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy] {
      allow_origin_string_match { exact: "o" } allow_methods: "GET,PUT" max_age: "60" forward_not_matching_preflights {}
      filter_enabled { default_value { numerator: 100 } } } } }
  )");
}

TEST_F(HttpRouteTest, HashingAloneDoesNotAvoidPreviousHosts) {
  const auto hash = FromText<ConsistentHash>("use_source_ip: true");
  hash_ = &hash;
  const pb::Route one = Route(kForward);
  EXPECT_EQ(one.route().hash_policy_size(), 1);
  EXPECT_EQ(one.route().retry_policy().retry_host_predicate_size(), 0);
  const pb::Route two =
      Route("route { weight: 1 destination { host: 'a' } } route { weight: 1 destination { host: 'b' } }");
  EXPECT_EQ(two.route().hash_policy_size(), 2);
  EXPECT_EQ(two.route().retry_policy().retry_host_predicate_size(), 1);
}

TEST_F(HttpRouteTest, TheMeshMayTurnRetriesOff) {
  const api::HTTPRetry none;
  options_.default_retries = &none;
  EXPECT_FALSE(Route(kForward).route().has_retry_policy());
  EXPECT_TRUE(Route(StrCat(kForward, "retries { attempts: 1 }")).route().has_retry_policy());
}

}  // namespace
}  // namespace fairlead::gen::route
