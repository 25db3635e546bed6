#include "simulate/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/path_normalization.h"
#include "simulate/text_proto.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::config::route::v3::HeaderMatcher;
using envoy::config::route::v3::QueryParameterMatcher;
using envoy::config::route::v3::Route;
using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;
using envoy::type::matcher::v3::MetadataMatcher;

SimulatedRequest For(const std::string& authority, const std::string& path = "/") {
  SimulatedRequest request;
  request.authority = authority;
  request.path = path;
  return request;
}

std::string HostFor(const RouteConfiguration& configuration, const std::string& authority) {
  const VirtualHost* host = ChooseVirtualHost(configuration, For(authority));
  return host == nullptr ? "none" : host->name();
}

TEST(ChooseVirtualHost, ExactThenSuffixThenPrefixThenAll) {
  auto configuration = FromText<RouteConfiguration>(R"(
    virtual_hosts { name: "all" domains: "*" }
    virtual_hosts { name: "prefix" domains: "a.*" }
    virtual_hosts { name: "short" domains: "*.example.com" }
    virtual_hosts { name: "long" domains: "*.b.example.com" }
    virtual_hosts { name: "exact" domains: "a.b.example.com" domains: "x:80" })");
  EXPECT_EQ(HostFor(configuration, "A.b.example.com"), "exact");
  EXPECT_EQ(HostFor(configuration, "c.b.example.com"), "long");
  EXPECT_EQ(HostFor(configuration, "b.example.com"), "short");
  EXPECT_EQ(HostFor(configuration, ".example.com"), "all");  // the wildcard is one character at least
  EXPECT_EQ(HostFor(configuration, "a.example.org"), "prefix");
  EXPECT_EQ(HostFor(configuration, "x:80"), "exact");
  EXPECT_EQ(HostFor(configuration, "x"), "all");
  EXPECT_EQ(HostFor(configuration, "a.b.example.com:80"), "prefix");
  configuration.set_ignore_port_in_host_matching(true);
  EXPECT_EQ(HostFor(configuration, "a.b.example.com:80"), "exact");
  configuration.mutable_virtual_hosts(0)->clear_domains();
  EXPECT_EQ(HostFor(configuration, "nowhere"), "none");
}

TEST(WithoutPort, KnowsIpv6) {
  EXPECT_EQ(WithoutPort("a:80"), "a");
  EXPECT_EQ(WithoutPort("a"), "a");
  EXPECT_EQ(WithoutPort("[::1]:80"), "[::1]");
  EXPECT_EQ(WithoutPort("::1"), "::1");
}

std::string RouteFor(const VirtualHost& host, const SimulatedRequest& request) {
  std::vector<std::string> notes;
  const Route* route = ChooseRoute(host, request, &notes);
  return route == nullptr ? "none" : route->name();
}

TEST(ChooseRoute, Paths) {
  const auto host = FromText<VirtualHost>(R"(
    routes { name: "exact" match { path: "/exact" } }
    routes { name: "folded" match { path: "/Folded" case_sensitive { value: false } } }
    routes { name: "separated" match { path_separated_prefix: "/sep" } }
    routes { name: "prefix" match { prefix: "/pre" } }
    routes { name: "regex" match { safe_regex { regex: "/v[0-9]+/x" } } })");
  for (const auto& [path, route] :
       {std::pair("/exact", "exact"), std::pair("/exact?q", "exact"), std::pair("/exact/", "none"),
        std::pair("/fOLDED", "folded"), std::pair("/sep", "separated"), std::pair("/sep/a", "separated"),
        std::pair("/sep?a", "separated"), std::pair("/separate", "none"), std::pair("/prelude", "prefix"),
        std::pair("/PRE", "none"), std::pair("/v12/x", "regex"), std::pair("/v12/x?y", "regex"),
        std::pair("/v12/xy", "none")}) {
    EXPECT_EQ(RouteFor(host, For("a", path)), route) << path;
  }
}

TEST(ChooseRoute, SharesGrpcTlsAndConnect) {
  const auto host = FromText<VirtualHost>(R"(
    routes { name: "tunnel" match { connect_matcher {} } }
    routes { name: "some" match { prefix: "/" runtime_fraction { default_value { numerator: 30 } } } }
    routes { name: "grpc" match { prefix: "/" grpc {} } }
    routes { name: "known" match { prefix: "/" tls_context { presented { value: true } } } })");
  SimulatedRequest request = For("a");
  EXPECT_EQ(RouteFor(host, request), "some");
  request.draw = 30;
  EXPECT_EQ(RouteFor(host, request), "none");
  request.tls = Tls{"", {}, true};
  EXPECT_EQ(RouteFor(host, request), "known");
  request.headers = {{"content-type", "application/grpc+proto"}};
  EXPECT_EQ(RouteFor(host, request), "grpc");
  request.method = "CONNECT";
  EXPECT_EQ(RouteFor(host, request), "tunnel");
}

bool HeaderMatches(const std::string& matcher,
                   const std::vector<std::pair<std::string, std::string>>& headers) {
  SimulatedRequest request = For("a");
  request.headers = headers;
  return Matches(FromText<HeaderMatcher>("name: 'x' " + matcher), request);
}

TEST(HeaderMatcher, OfEveryKind) {
  EXPECT_TRUE(HeaderMatches("string_match { exact: 'a,b' }", {{"x", "a"}, {"x", "b"}}));
  EXPECT_TRUE(HeaderMatches("string_match { prefix: 'AB' ignore_case: true }", {{"x", "abc"}}));
  EXPECT_FALSE(HeaderMatches("string_match { prefix: 'AB' }", {{"x", "abc"}}));
  EXPECT_TRUE(HeaderMatches("string_match { suffix: 'c' }", {{"x", "abc"}}));
  EXPECT_TRUE(HeaderMatches("string_match { contains: 'b' }", {{"x", "abc"}}));
  EXPECT_TRUE(HeaderMatches("string_match { safe_regex { regex: 'a.c' } }", {{"x", "abc"}}));
  EXPECT_FALSE(HeaderMatches("string_match { safe_regex { regex: 'a.' } }", {{"x", "abc"}}));
  EXPECT_TRUE(HeaderMatches("range_match { start: 1 end: 5 }", {{"x", "4"}}));
  EXPECT_FALSE(HeaderMatches("range_match { start: 1 end: 5 }", {{"x", "5"}}));
}

// HeaderMatcher's description: a missing header fails every rule, inverted or not, unless it counts as empty.
TEST(HeaderMatcher, OfMissingHeaders) {
  EXPECT_FALSE(HeaderMatches("string_match { exact: 'a' }", {}));
  EXPECT_FALSE(HeaderMatches("string_match { exact: 'a' } invert_match: true", {}));
  EXPECT_TRUE(HeaderMatches(
      "string_match { exact: 'a' } invert_match: true treat_missing_header_as_empty: true", {}));
  EXPECT_TRUE(HeaderMatches("string_match { exact: 'a' } invert_match: true", {{"x", "b"}}));
  EXPECT_TRUE(HeaderMatches("present_match: true", {{"x", ""}}));
  EXPECT_FALSE(HeaderMatches("present_match: true", {}));
  EXPECT_TRUE(HeaderMatches("present_match: true invert_match: true", {}));
  EXPECT_FALSE(HeaderMatches("present_match: true invert_match: true", {{"x", "1"}}));
  EXPECT_TRUE(HeaderMatches("present_match: false", {}));
}

TEST(QueryParameterMatcher, TakesTheFirstValue) {
  const auto matches = [](const std::string& matcher, const std::string& path) {
    return Matches(FromText<QueryParameterMatcher>("name: 'q' " + matcher), For("a", path));
  };
  EXPECT_TRUE(matches("string_match { exact: '1' }", "/?p=0&q=1&q=2"));
  EXPECT_FALSE(matches("string_match { exact: '2' }", "/?q=1&q=2"));
  EXPECT_FALSE(matches("string_match { exact: '' }", "/"));
  EXPECT_TRUE(matches("present_match: true", "/?q"));
  EXPECT_FALSE(matches("present_match: true", "/?qq=1"));
  EXPECT_TRUE(matches("present_match: false", "/"));
}

TEST(MetadataMatcher, DescendsIntoStructsAndLists) {
  SimulatedRequest request = For("a");
  auto& claims = *(*request.metadata.mutable_fields())["jwt"].mutable_struct_value()->mutable_fields();
  claims["groups"].mutable_list_value()->add_values()->set_string_value("dev");
  claims["iss"].set_string_value("me");
  const auto matches = [&](const std::string& rest) {
    return Matches(FromText<MetadataMatcher>("filter: 'jwt' " + rest), request);
  };
  EXPECT_TRUE(matches("path { key: 'iss' } value { string_match { exact: 'me' } }"));
  EXPECT_TRUE(
      matches("path { key: 'groups' } value { list_match { one_of { string_match { exact: 'dev' } } } }"));
  EXPECT_FALSE(
      matches("path { key: 'groups' } value { list_match { one_of { string_match { exact: 'ops' } } } }"));
  EXPECT_FALSE(matches("path { key: 'iss' } path { key: 'deep' } value { string_match { exact: 'me' } }"));
  EXPECT_TRUE(matches("path { key: 'none' } value { string_match { exact: 'me' } } invert: true"));
}

TEST(Rewrite, PrefixKeepsTheRestAndTheQuery) {
  const auto rewritten = [](const std::string& match, const std::string& prefix, const std::string& path) {
    return WithPrefixRewritten(FromText<envoy::config::route::v3::RouteMatch>(match), prefix, path);
  };
  EXPECT_EQ(rewritten("prefix: '/old/'", "/new/", "/old/a?b=/old/"), "/new/a?b=/old/");
  EXPECT_EQ(rewritten("path: '/one'", "/two", "/one?q=1"), "/two?q=1");
  EXPECT_EQ(rewritten("path_separated_prefix: '/a'", "/b", "/a/c"), "/b/c");
  EXPECT_EQ(rewritten("safe_regex { regex: '/x.*' }", "/y", "/xyz?q"), "/y?q");
}

std::string Redirected(const std::string& redirect, const std::string& authority, const std::string& path) {
  return RedirectLocation(FromText<Route>("match { prefix: '/p' } redirect { " + redirect + " }"),
                          For(authority, path));
}

TEST(RedirectLocation, ReplacesWhatItNames) {
  EXPECT_EQ(Redirected("https_redirect: true", "a:80", "/p?q"), "https://a/p?q");
  EXPECT_EQ(Redirected("https_redirect: true", "a:8080", "/p"), "https://a:8080/p");
  EXPECT_EQ(Redirected("https_redirect: true port_redirect: 8443", "a:80", "/p"), "https://a:8443/p");
  EXPECT_EQ(Redirected("host_redirect: 'b' path_redirect: '/x'", "a", "/p?q=1"), "http://b/x?q=1");
  EXPECT_EQ(Redirected("path_redirect: '/x?z'", "a", "/p?q=1"), "http://a/x?z");
  EXPECT_EQ(Redirected("path_redirect: '/x' strip_query: true", "a", "/p?q=1"), "http://a/x");
  EXPECT_EQ(Redirected("path_redirect: '' port_redirect: 81", "a", "/p?q=1"), "http://a:81/p?q=1");
  EXPECT_EQ(Redirected("prefix_rewrite: '/n'", "a", "/p/r?q=1"), "http://a/n/r?q=1");
  EXPECT_EQ(Redirected("regex_rewrite { pattern { regex: '/p/(.)' } substitution: '/\\\\1' }", "a", "/p/r?q"),
            "http://a/r?q");
}

TEST(NormalizedPath, AsBrowsersDoIt) {
  EXPECT_EQ(NormalizedPath("/a/../b/./c?d/../e"), "/b/c?d/../e");
  EXPECT_EQ(NormalizedPath("/a/b/.."), "/a/");
  EXPECT_EQ(NormalizedPath("/../a"), "/a");
  EXPECT_EQ(NormalizedPath("/%61%2f%2E%2e\\x"), "/a%2f../x");
  EXPECT_EQ(WithSlashesMerged("//a///b?c//d"), "/a/b?c//d");
  EXPECT_TRUE(HasEscapedSlashes("/a%5cb"));
  EXPECT_FALSE(HasEscapedSlashes("/a?%2f"));
  EXPECT_EQ(WithSlashesUnescaped("/a%2Fb?%2f"), "/a/b?%2f");
}

}  // namespace
}  // namespace fairlead::simulate
