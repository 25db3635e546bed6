#include <google/protobuf/util/json_util.h>

#include "gen/listener/listener_fixture.h"
#include "istio/extensions/v1alpha1/wasm.pb.h"

namespace fairlead::gen::listener {
namespace {

class ListenerPluginsTest : public ListenerFixture {
 protected:
  void PutPlugin(std::string_view name, std::string_view more) {
    istio::extensions::v1alpha1::WasmPlugin plugin;
    const std::string json = StrCat(R"({"url": "oci://r/m", )", more, "}");
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &plugin).ok()) << json;
    Put(config::Kind::kWasmPlugin, "default", name, std::move(plugin));
  }
  static size_t Count(const std::vector<std::string>& names, std::string_view plugin) {
    return static_cast<size_t>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(StrCat("default.", plugin, "~")) != std::string::npos;
    }));
  }
};

TEST_F(ListenerPluginsTest, HttpPluginsByPhaseAndPort) {
  AddVip("default", "web", "10.0.0.1", 80, model::Protocol::kHttp);
  AddVip("default", "api", "10.0.0.2", 81, model::Protocol::kHttp);
  PutPlugin("authn", R"("phase": "AUTHN")");
  PutPlugin("stats", R"("phase": "STATS", "match": [{"ports": [{"number": 81}]}])");
  const Listeners listeners = Generated(Client());
  const auto web = FilterNames(Http(listeners.at("0.0.0.0_80").filter_chains(0)));
  const auto api = FilterNames(Http(listeners.at("0.0.0.0_81").filter_chains(0)));
  EXPECT_EQ(Count(web, "authn"), 1u);
  EXPECT_EQ(Count(web, "stats"), 0u);
  EXPECT_EQ(Count(api, "stats"), 1u);
  EXPECT_EQ(api.back(), "envoy.filters.http.router");
}

TEST_F(ListenerPluginsTest, NetworkPlugins) {
  AddVip("default", "db", "10.0.0.1", 3306, model::Protocol::kTcp);
  AddVip("default", "web", "10.0.0.2", 80, model::Protocol::kHttp);
  PutPlugin("net", R"("type": "NETWORK")");
  const Listeners listeners = Generated(Client());
  for (const char* name : {"10.0.0.1_3306", "0.0.0.0_80"}) {
    const auto filters = FilterNames(listeners.at(name).filter_chains(0));
    EXPECT_EQ(Count(filters, "net"), 1u) << name;
    EXPECT_EQ(Count({filters.back()}, "net"), 0u) << "before what ends the chain";
  }
  EXPECT_EQ(Count(FilterNames(listeners.at("virtualOutbound").filter_chains(1)), "net"), 0u);
}

}  // namespace
}  // namespace fairlead::gen::listener
