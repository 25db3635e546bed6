#include <string>
#include <vector>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/patch/patch_fixture.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::route::v3::RouteConfiguration;
using Names = std::vector<std::string>;

constexpr char kRoutes[] = R"({"name": "80", "virtualHosts": [
  {"name": "a:80", "domains": ["a"], "routes": [
    {"name": "one", "route": {"cluster": "x"}}, {"name": "two", "redirect": {"hostRedirect": "y"}}]},
  {"name": "b:80", "domains": ["b"], "routes": [{"name": "one", "route": {"cluster": "x"}}]}]})";

template <typename List>
Names NamesOf(const List& list) {
  Names names;
  for (const auto& element : list) names.push_back(element.name());
  return names;
}

std::string Patch(std::string_view apply_to, std::string_view match, std::string_view operation,
                  std::string_view value = R"({"name": "new"})") {
  return StrCat(R"({"applyTo": ")", apply_to, R"(", "match": {"routeConfiguration": )", match,
                R"(}, "patch": {"operation": ")", operation, R"(", "value": )", value, "}}");
}

RouteConfiguration Apply(const std::string& patches, Side side = Side::kOutbound,
                         const std::string& name = "80", const GatewayPorts* ports = nullptr) {
  RouteConfiguration routes = FromJson<RouteConfiguration>(kRoutes);
  routes.set_name(name);
  PatchOutcome outcome;
  PatchRoutes(MakeSet(side, patches), ports, &routes, &outcome);
  return routes;
}

TEST(PatchRoutesTest, VirtualHosts) {
  const std::string a = R"({"vhost": {"name": "a:80"}})";
  EXPECT_EQ(NamesOf(Apply(Patch("VIRTUAL_HOST", a, "REMOVE")).virtual_hosts()), (Names{"b:80"}));
  EXPECT_EQ(NamesOf(Apply(Patch("VIRTUAL_HOST", a, "REPLACE")).virtual_hosts()), (Names{"new", "b:80"}));
  EXPECT_EQ(NamesOf(Apply(Patch("VIRTUAL_HOST", a, "ADD")).virtual_hosts()), (Names{"a:80", "b:80", "new"}));
  const std::string by_domain = R"({"vhost": {"domainName": "b"}})";
  EXPECT_EQ(NamesOf(Apply(Patch("VIRTUAL_HOST", by_domain, "REMOVE")).virtual_hosts()), (Names{"a:80"}));
}

TEST(PatchRoutesTest, Routes) {
  const auto names = [](std::string_view vhost, std::string_view operation) {
    return NamesOf(
        Apply(Patch("HTTP_ROUTE", StrCat(R"({"vhost": )", vhost, "}"), operation)).virtual_hosts(0).routes());
  };
  const std::string two = R"({"name": "a:80", "route": {"name": "two"}})";
  EXPECT_EQ(names(two, "REMOVE"), (Names{"one"}));
  EXPECT_EQ(names(two, "MERGE"), (Names{"one", "new"}));
  EXPECT_EQ(names(two, "INSERT_BEFORE"), (Names{"one", "new", "two"}));
  EXPECT_EQ(names(two, "INSERT_AFTER"), (Names{"one", "two", "new"}));
  EXPECT_EQ(names(two, "INSERT_FIRST"), (Names{"new", "one", "two"}));
  EXPECT_EQ(names(two, "ADD"), (Names{"one", "two", "new"}));
  EXPECT_EQ(names(R"({"route": {"name": "three"}})", "INSERT_FIRST"), (Names{"one", "two"}));
  EXPECT_EQ(names(R"({"name": "b:80"})", "INSERT_FIRST"), (Names{"one", "two"}));
  EXPECT_EQ(names(R"({"route": {"action": "REDIRECT"}})", "REMOVE"), (Names{"one"}));
}

TEST(PatchRoutesTest, NothingIsInsertedBesideARemovedRoute) {
  const std::string two = R"({"vhost": {"route": {"name": "two"}}})";
  const RouteConfiguration routes =
      Apply(StrCat(Patch("HTTP_ROUTE", two, "REMOVE"), ",", Patch("HTTP_ROUTE", two, "INSERT_BEFORE")));
  EXPECT_EQ(NamesOf(routes.virtual_hosts(0).routes()), (Names{"one"}));
}

bool Matches(std::string_view match, Side side, const std::string& name,
             const GatewayPorts* ports = nullptr) {
  const std::string patch =
      Patch("ROUTE_CONFIGURATION", match, "MERGE", R"({"mostSpecificHeaderMutationsWins": true})");
  return Apply(patch, side, name, ports).most_specific_header_mutations_wins();
}

TEST(PatchRoutesTest, MatchOfSidecars) {
  EXPECT_TRUE(Matches(R"({"portNumber": 80})", Side::kOutbound, "80"));
  EXPECT_FALSE(Matches(R"({"portNumber": 80})", Side::kOutbound, "a.com:80"));
  EXPECT_TRUE(Matches(R"({"name": "a.com:80"})", Side::kOutbound, "a.com:80"));
  EXPECT_TRUE(Matches(R"({"portNumber": 8080})", Side::kInbound, "inbound|8080||"));
}

TEST(PatchRoutesTest, MatchOfGateways) {
  const std::string https = "https.443.https-a.gw.istio-system";
  EXPECT_TRUE(Matches(R"({"portNumber": 8080})", Side::kGateway, "http.8080"));
  EXPECT_TRUE(Matches(R"({"portNumber": 443, "portName": "https-a", "gateway": "istio-system/gw"})",
                      Side::kGateway, https));
  EXPECT_FALSE(Matches(R"({"gateway": "default/gw"})", Side::kGateway, https));
  EXPECT_FALSE(Matches(R"({"portName": "http"})", Side::kGateway, "http.8080"));
  const GatewayPorts ports = {80, 81};
  EXPECT_TRUE(Matches(R"({"portNumber": 81})", Side::kGateway, "http.8080", &ports));
  EXPECT_FALSE(Matches(R"({"portNumber": 8080})", Side::kGateway, "http.8080", &ports));
}

}  // namespace
}  // namespace fairlead::gen::patch
