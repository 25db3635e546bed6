#include "gen/route/match.h"

#include <gmock/gmock.h>

#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/expect_message.h"
#include "gen/route/test_objects.h"

namespace fairlead::gen::route {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct MatchCase {
  const char* name;
  const char* match;  // HTTPMatchRequest
  const char* want;   // RouteMatch without case_sensitive
  Semantics semantics = Semantics::kIstio;
};

class BuildMatchTest : public ::testing::TestWithParam<MatchCase> {};

TEST_P(BuildMatchTest, Translates) {
  const auto match = FromText<istio::networking::v1alpha3::HTTPMatchRequest>(GetParam().match);
  envoy::config::route::v3::RouteMatch out;
  BuildMatch(&match, GetParam().semantics, &out);
  EXPECT_EQ(out.case_sensitive().value(), !match.ignore_uri_case());
  out.clear_case_sensitive();
  ExpectMessage(out, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    All, BuildMatchTest,
    ::testing::Values(
        MatchCase{"nothing", "", "prefix: '/'"}, MatchCase{"exact", "uri { exact: '/a' }", "path: '/a'"},
        MatchCase{"prefix", "uri { prefix: '/a/' }", "prefix: '/a/'"},
        MatchCase{"regex", "uri { regex: '/a.*' } ignore_uri_case: true", "safe_regex { regex: '/a.*' }"},
        MatchCase{"path_elements", "uri { prefix: '/a/' }", "path_separated_prefix: '/a'",
                  Semantics::kIngress},
        MatchCase{"root_path", "uri { prefix: '/' }", "prefix: '/'", Semantics::kGatewayApi},
        MatchCase{
            "headers_by_name",
            "headers { key: 'b' value { exact: '1' } } headers { key: 'a' value { regex: '*' } }",
            "prefix: '/' headers { name: 'a' present_match: true } headers { name: 'b' string_match { exact: "
            "'1' } }"},
        MatchCase{"without_headers",
                  "without_headers { key: 'a' value { prefix: 'x' } } without_headers { key: 'b' value {} }",
                  "prefix: '/' headers { name: 'a' string_match { prefix: 'x' } invert_match: true "
                  "treat_missing_header_as_empty: true } headers { name: 'b' present_match: true "
                  "invert_match: true }"},
        MatchCase{
            "pseudo_headers_last",
            "method { exact: 'GET' } authority { prefix: 'a' } scheme { exact: 'https' } headers { key: 'z' "
            "value { exact: '1' } }",
            "prefix: '/' headers { name: 'z' string_match { exact: '1' } } headers { name: ':method' "
            "string_match { exact: 'GET' } } headers { name: ':authority' string_match { prefix: 'a' } } "
            "headers { name: ':scheme' string_match { exact: 'https' } }"},
        MatchCase{
            "query", "query_params { key: 'q' value { exact: '1' } } query_params { key: 'p' value {} }",
            "prefix: '/' query_parameters { name: 'p' present_match: true } query_parameters { name: 'q' "
            "string_match { exact: '1' } }"},
        MatchCase{
            "claims", "headers { key: '@request.auth.claims.group.id' value { exact: '7' } }",
            "prefix: '/' dynamic_metadata { filter: 'envoy.filters.http.jwt_authn' path { key: 'payload' } "
            "path { key: 'group' } path { key: 'id' } value { or_match { value_matchers { list_match { "
            "one_of { "
            "string_match { exact: '7' } } } } value_matchers { string_match { exact: '7' } } } } }"}),
    [](const auto& info) { return info.param.name; });

TEST(BuildMatch, OfNoConditionTakesAll) {
  envoy::config::route::v3::RouteMatch out;
  BuildMatch(nullptr, Semantics::kIstio, &out);
  ExpectMessage(out, "prefix: '/'");
}

TEST(RoutingClaims, ReadBothSpellings) {
  EXPECT_THAT(RoutingClaims("@request.auth.claims.a.B"), ElementsAre("a", "B"));
  EXPECT_THAT(RoutingClaims("@Request.Auth.Claims[a][b.c]"), ElementsAre("a", "b.c"));
  EXPECT_THAT(RoutingClaims("@request.auth.claims.[a]"), ElementsAre("[a]"));
  for (const char* other :
       {"x-claim", "@request.auth.claims", "@request.auth.claims.", "@request.auth.claims[]",
        "@request.auth.claims[a", "@request.auth.claims-a", "request.auth.claims.a"}) {
    EXPECT_THAT(RoutingClaims(other), IsEmpty()) << other;
  }
}

TEST(IsCatchAll, NeedsEveryRequest) {
  const auto catches = [](const char* match) {
    envoy::config::route::v3::Route route;
    *route.mutable_match() = FromText<envoy::config::route::v3::RouteMatch>(match);
    return IsCatchAll(route);
  };
  EXPECT_TRUE(catches("prefix: '/'"));
  EXPECT_TRUE(catches("safe_regex { regex: '.*' }"));
  EXPECT_FALSE(catches("prefix: '/a'"));
  EXPECT_FALSE(catches("path: '/'"));
  EXPECT_FALSE(catches("prefix: '/' headers { name: 'a' }"));
  EXPECT_FALSE(catches("prefix: '/' query_parameters { name: 'a' }"));
  EXPECT_FALSE(catches("prefix: '/' dynamic_metadata { filter: 'a' }"));
}

}  // namespace
}  // namespace fairlead::gen::route
