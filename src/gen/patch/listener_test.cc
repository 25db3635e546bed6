#include <string>
#include <vector>

#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/patch/patch_fixture.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using Names = std::vector<std::string>;

constexpr char kListener[] = R"({
  "name": "virtualInbound",
  "address": {"socketAddress": {"address": "0.0.0.0", "portValue": 15006}},
  "listenerFilters": [{"name": "dst"}, {"name": "tls"}],
  "filterChains": [
    {"name": "http", "filterChainMatch": {"destinationPort": 8080, "serverNames": ["a.com"],
       "transportProtocol": "tls", "applicationProtocols": ["h2", "http/1.1"]},
     "filters": [
       {"name": "exchange"},
       {"name": "envoy.filters.network.http_connection_manager", "typedConfig": {
         "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
         "routeConfig": {"name": "inbound|8080||", "virtualHosts": [{"name": "inbound|http|80", "domains": ["*"]}]},
         "httpFilters": [
           {"name": "cors", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors"}},
           {"name": "router", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]},
    {"name": "tcp", "filters": [{"name": "proxy"}]}]})";

class PatchListenerTest : public testing::Test {
 protected:
  void Apply(const std::string& patches, Side side = Side::kInbound) {
    listener_ = FromJson<Listener>(kListener);
    outcome_ = {};
    kept_ = PatchListener(MakeSet(side, patches), &listener_, &outcome_);
  }

  HttpConnectionManager Manager() const {
    HttpConnectionManager manager;
    for (const auto& filter : listener_.filter_chains(0).filters()) filter.typed_config().UnpackTo(&manager);
    return manager;
  }
  Names HttpFilters() const { return NamesOf(Manager().http_filters()); }
  template <typename List>
  static Names NamesOf(const List& list) {
    Names names;
    for (const auto& element : list) names.push_back(element.name());
    return names;
  }

  static std::string Patch(std::string_view apply_to, std::string_view match, std::string_view operation,
                           std::string_view value = R"({"name": "new"})") {
    return StrCat(R"({"applyTo": ")", apply_to, R"(", "match": )", match, R"(, "patch": {"operation": ")",
                  operation, R"(", "value": )", value, "}}");
  }

  Listener listener_;
  PatchOutcome outcome_;
  bool kept_ = false;
};

TEST_F(PatchListenerTest, RemoveAndMerge) {
  Apply(Patch("LISTENER", R"({"listener": {"portNumber": 15006}})", "REMOVE"));
  EXPECT_FALSE(kept_);
  Apply(Patch("LISTENER", R"({"listener": {"portNumber": 8080}})", "REMOVE"));
  EXPECT_TRUE(kept_);
  Apply(Patch("LISTENER", "{}", "MERGE", R"({"tcpBacklogSize": 7})"));
  EXPECT_EQ(listener_.tcp_backlog_size().value(), 7u);
  EXPECT_EQ(listener_.filter_chains_size(), 2);
}

TEST_F(PatchListenerTest, ListenerFilters) {
  const std::string tls = R"({"listener": {"listenerFilter": "tls"}})";
  const auto names = [&](std::string_view match, std::string_view operation) {
    Apply(Patch("LISTENER_FILTER", match, operation));
    return NamesOf(listener_.listener_filters());
  };
  EXPECT_EQ(names(tls, "INSERT_BEFORE"), (Names{"dst", "new", "tls"}));
  EXPECT_EQ(names(tls, "INSERT_AFTER"), (Names{"dst", "tls", "new"}));
  EXPECT_EQ(names("{}", "INSERT_BEFORE"), (Names{"new", "dst", "tls"}));
  EXPECT_EQ(names("{}", "INSERT_AFTER"), (Names{"dst", "tls", "new"}));
  EXPECT_EQ(names("{}", "INSERT_FIRST"), (Names{"new", "dst", "tls"}));
  EXPECT_EQ(names(tls, "REPLACE"), (Names{"dst", "new"}));
  EXPECT_EQ(names(tls, "REMOVE"), (Names{"dst"}));
  EXPECT_EQ(names("{}", "REMOVE"), (Names{"dst", "tls"}));
}

TEST_F(PatchListenerTest, ChainMatch) {
  const auto chains = [&](std::string_view match) {
    Apply(Patch("FILTER_CHAIN", StrCat(R"({"listener": )", match, "}"), "REMOVE"));
    return NamesOf(listener_.filter_chains());
  };
  const Names other = {"tcp"}, both = {"http", "tcp"};
  EXPECT_EQ(chains(R"({"portNumber": 8080})"), other);
  EXPECT_EQ(chains(R"({"portNumber": 8081})"), both);
  EXPECT_EQ(chains(R"({"filterChain": {"name": "http"}})"), other);
  EXPECT_EQ(chains(R"({"filterChain": {"sni": "a.com"}})"), other);
  EXPECT_EQ(chains(R"({"filterChain": {"sni": "b.com"}})"), both);
  EXPECT_EQ(chains(R"({"filterChain": {"transportProtocol": "tls"}})"), other);
  EXPECT_EQ(chains(R"({"filterChain": {"applicationProtocols": "h2,http/1.1"}})"), other);
  EXPECT_EQ(chains(R"({"filterChain": {"applicationProtocols": "h2,h3"}})"), both);
  EXPECT_EQ(chains(R"({"filterChain": {"destinationPort": 8080}})"), other);
  EXPECT_EQ(chains("{}"), Names{});
}

TEST_F(PatchListenerTest, AddedChainsNeedFilters) {
  Apply(Patch("FILTER_CHAIN", "{}", "ADD"));
  EXPECT_EQ(listener_.filter_chains_size(), 2);
  Apply(Patch("FILTER_CHAIN", "{}", "ADD", R"({"name": "new", "filters": [{"name": "x"}]})"));
  EXPECT_EQ(NamesOf(listener_.filter_chains()), (Names{"http", "tcp", "new"}));
}

TEST_F(PatchListenerTest, NetworkFilters) {
  const std::string manager = R"({"listener": {"filterChain": {"name": "http", "filter":
      {"name": "envoy.filters.network.http_connection_manager"}}}})";
  Apply(Patch("NETWORK_FILTER", manager, "INSERT_BEFORE"));
  EXPECT_EQ(NamesOf(listener_.filter_chains(0).filters()),
            (Names{"exchange", "new", "envoy.filters.network.http_connection_manager"}));
  EXPECT_EQ(NamesOf(listener_.filter_chains(1).filters()), (Names{"proxy"}));
  Apply(Patch("NETWORK_FILTER", manager, "MERGE", R"({"typedConfig": {
      "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      "xffNumTrustedHops": 3}})"));
  EXPECT_EQ(Manager().xff_num_trusted_hops(), 3u);
  EXPECT_EQ(HttpFilters(), (Names{"cors", "router"}));
}

std::string OfFilter(std::string_view name) {
  return StrCat(R"({"listener": {"filterChain": {"filter": {"name":
      "envoy.filters.network.http_connection_manager", "subFilter": {"name": ")",
                name, R"("}}}}})");
}

TEST_F(PatchListenerTest, HttpFilters) {
  const auto names = [&](std::string_view match, std::string_view operation) {
    Apply(Patch("HTTP_FILTER", match, operation));
    return HttpFilters();
  };
  EXPECT_EQ(names(OfFilter("router"), "INSERT_BEFORE"), (Names{"cors", "new", "router"}));
  EXPECT_EQ(names(OfFilter("cors"), "INSERT_AFTER"), (Names{"cors", "new", "router"}));
  EXPECT_EQ(names(OfFilter("router"), "INSERT_FIRST"), (Names{"new", "cors", "router"}));
  EXPECT_EQ(names(OfFilter("none"), "INSERT_BEFORE"), (Names{"cors", "router"}));
  EXPECT_EQ(names(OfFilter("cors"), "REPLACE"), (Names{"new", "router"}));
  EXPECT_EQ(names(OfFilter("cors"), "REMOVE"), (Names{"router"}));
  EXPECT_EQ(names("{}", "ADD"), (Names{"cors", "router", "new"}));
  EXPECT_EQ(names(OfFilter("cors"), "MERGE"), (Names{"new", "router"}));
}

TEST_F(PatchListenerTest, APatchWithAWrongScriptIsLeftOutAlone) {
  const auto lua = [](std::string_view name, std::string_view code) {
    const std::string value = StrCat(R"({"name": ")", name, R"(", "typedConfig": {"@type":
        "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inlineCode": ")",
                                     code, R"("}})");
    return Patch("HTTP_FILTER", OfFilter("router"), "INSERT_FIRST", value);
  };
  Apply(StrCat(lua("wrong", "function ("), ",", lua("right", "-- nothing")));
  EXPECT_EQ(HttpFilters(), (Names{"right", "cors", "router"}));
}

TEST_F(PatchListenerTest, PatchOfAnotherTypeIsLeftOutWithWhatFollowsOfItsObject) {
  const std::string wrong = Patch("HTTP_FILTER", OfFilter("router"), "MERGE",
                                  R"({"typedConfig": {"@type":
      "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inlineCode": "-- x"}})");
  const std::string before = Patch("LISTENER", "{}", "MERGE", R"({"tcpBacklogSize": 7})");
  const std::string added = Patch("LISTENER", R"({"context": "SIDECAR_INBOUND"})", "ADD");
  Apply(StrCat(before, ",", wrong, ",", added));
  EXPECT_TRUE(kept_);
  EXPECT_EQ(listener_.tcp_backlog_size().value(), 7u);
  EXPECT_EQ(HttpFilters(), (Names{"cors", "router"}));
  ASSERT_EQ(outcome_.failed().size(), 1u);
  const PatchSet other = MakeSet(Side::kInbound, added);
  EXPECT_EQ(AddedListeners(other, &outcome_).size(), 1u) << "that of another object counts";
  outcome_.AddFailed({other.all().front()->object});
  EXPECT_EQ(AddedListeners(other, &outcome_).size(), 0u);
}

TEST_F(PatchListenerTest, InboundRoutes) {
  Apply(Patch("VIRTUAL_HOST", R"({"routeConfiguration": {"portNumber": 8080}})", "MERGE",
              R"({"requireTls": "ALL"})"));
  EXPECT_NE(ToJson(Manager().route_config()).find("ALL"), std::string::npos);
  Apply(Patch("VIRTUAL_HOST", R"({"routeConfiguration": {"portNumber": 80}})", "MERGE",
              R"({"requireTls": "ALL"})"));
  EXPECT_EQ(ToJson(Manager().route_config()).find("ALL"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::gen::patch
