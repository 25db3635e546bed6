#include "gen/extension/plugins.h"

#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/extension/plugin_fixture.h"

namespace fairlead::gen::extension {
namespace {

using envoy::config::listener::v3::Filter;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
using Names = std::vector<std::string>;

class PluginsTest : public PluginFixture {
 protected:
  Plugins Collect() {
    const mesh::SnapshotPtr snapshot = Build();
    const mesh::ProxyScopePtr scope = Scope(snapshot);
    mesh::View view({*snapshot, scope.get()});
    return CollectPlugins(view);
  }
  Names Collected() {
    Names names;
    for (const config::ConfigPtr& object : Collect()) names.push_back(object->name().str());
    return names;
  }
  google::protobuf::RepeatedPtrField<HttpFilter> HttpFilters(Phase phase, FilterPlace place,
                                                             bool has_wasm = true) {
    google::protobuf::RepeatedPtrField<HttpFilter> filters;
    AddHttpPlugins(Collect(), phase, place, has_wasm, &filters);
    return filters;
  }
};

TEST_F(PluginsTest, Order) {
  PutWasm("default", "young");
  PutWasm("default", "old", "", 9);
  PutWasm("default", "negative", R"("priority": -5)");
  PutWasm("default", "high", R"("priority": 10)");
  PutWasm("istio-system", "root-oldest", "", 99);
  PutExtension("default", "script", R"({"lua": {"inlineCode": "-- x"}})", 5);
  PutWasm("other", "elsewhere");
  EXPECT_EQ(Collected(), (Names{"high", "negative", "old", "script", "young", "root-oldest"}));
}

TEST_F(PluginsTest, InvalidOnesAreLeftOut) {
  PutExtension("default", "nothing", "{}");
  PutExtension("default", "no-code", R"({"lua": {}})");
  PutExtension("default", "long", StrCat(R"({"lua": {"inlineCode": ")", std::string(65537, 'x'), "\"}}"));
  PutExtension("default", "no-lua", R"({"lua": {"inlineCode": "function ("}})");
  PutWasm("default", "no-url", "", 0, "");
  PutWasm("default", "bad-url", "", 0, "1.2.3.4:5000/m");
  EXPECT_EQ(Collected(), Names{});
}

TEST_F(PluginsTest, Selection) {
  AddPod("default", "client", "10.0.0.1", {{"app", "a"}});
  PutWasm("default", "mine", R"("selector": {"matchLabels": {"app": "a"}})");
  PutWasm("default", "theirs", R"("selector": {"matchLabels": {"app": "b"}})");
  EXPECT_EQ(Collected(), Names{"mine"});
}

TEST_F(PluginsTest, TrafficMatch) {
  PutWasm("default", "m",
          R"("match": [{"mode": "SERVER", "ports": [{"number": 80}, {"number": 81}]}, {"mode": "CLIENT"}])");
  const auto count = [&](FilterPlace place) { return HttpFilters(Phase::kUnspecified, place).size(); };
  EXPECT_EQ(count({.server = true, .port = 80}), 1);
  EXPECT_EQ(count({.server = true, .port = 82}), 0);
  EXPECT_EQ(count({.server = false, .port = 82}), 1);
  EXPECT_TRUE(DependOnPorts(Collect()));
}

TEST_F(PluginsTest, PhasesAndKindsOfFilters) {
  PutWasm("default", "authn", R"("phase": "AUTHN")");
  PutWasm("default", "network", R"("phase": "AUTHN", "type": "NETWORK")");
  PutExtension("default", "script", R"({"phase": "STATS", "lua": {"inlineCode": "-- x"}})");
  const auto authn = HttpFilters(Phase::kAuthn, {});
  ASSERT_EQ(authn.size(), 1);
  EXPECT_EQ(authn[0].name(),
            "extensions.istio.io/trafficextension/default.authn~istio-translated-wasmplugin");
  EXPECT_EQ(authn[0].config_discovery().type_urls_size(), 2);
  EXPECT_TRUE(authn[0].config_discovery().config_source().has_initial_fetch_timeout());
  const auto stats = HttpFilters(Phase::kStats, {});
  ASSERT_EQ(stats.size(), 1);
  EXPECT_EQ(stats[0].name(), "extensions.istio.io/trafficextension/default.script");
  EXPECT_NE(stats[0].typed_config().value().find("-- x"), std::string::npos);
  google::protobuf::RepeatedPtrField<Filter> network;
  AddNetworkPlugins(Collect(), Phase::kAuthn, {}, /*has_wasm=*/true, &network);
  ASSERT_EQ(network.size(), 1);
  EXPECT_TRUE(network[0].config_discovery().type_urls(0).ends_with("network.wasm.v3.Wasm"));
  EXPECT_EQ(NetworkPlugins(Collect()).size(), 1u);
}

TEST_F(PluginsTest, ProxiesWithoutTheRuntimeDiscoverAVerdict) {
  PutWasm("default", "m");
  const auto filters = HttpFilters(Phase::kUnspecified, {}, /*has_wasm=*/false);
  ASSERT_EQ(filters.size(), 1);
  ASSERT_EQ(filters[0].config_discovery().type_urls_size(), 1);
  EXPECT_TRUE(filters[0].config_discovery().type_urls(0).ends_with("http.rbac.v3.RBAC"));
}

TEST(PluginNameTest, Parse) {
  const PluginName own = ParsePluginName("extensions.istio.io/trafficextension/default.a.b");
  EXPECT_EQ(own.ns, "default");
  EXPECT_EQ(own.name, "a.b");
  EXPECT_FALSE(own.wasm_plugin);
  const PluginName wasm =
      ParsePluginName("extensions.istio.io/trafficextension/default.a~istio-translated-wasmplugin");
  EXPECT_EQ(wasm.name, "a");
  EXPECT_TRUE(wasm.wasm_plugin);
  EXPECT_EQ(ParsePluginName("my-lua").name, "");
  EXPECT_EQ(ParsePluginName("extensions.istio.io/trafficextension/nodot").name, "");
}

}  // namespace
}  // namespace fairlead::gen::extension
