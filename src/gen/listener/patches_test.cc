#include <google/protobuf/util/json_util.h>

#include "gen/listener/listener_fixture.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::listener {
namespace {

class ListenerPatchesTest : public ListenerFixture {
 protected:
  ListenerPatchesTest() {
    AddPod("default", "a", "10.1.0.1", {{"app", "a"}});
    AddPod("default", "b", "10.1.0.2", {{"app", "b"}});
    AddVip("default", "db", "10.0.0.1", 3306, model::Protocol::kTcp);
    AddVip("default", "mq", "10.0.0.2", 5672, model::Protocol::kTcp);
  }

  void PutFilter(const std::string& spec) {
    istio::networking::v1alpha3::EnvoyFilter filter;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(spec, &filter).ok());
    Put(config::Kind::kEnvoyFilter, "default", "filter", std::move(filter));
  }

  std::map<std::string, cache::ResourcePtr> ResourcesOf(const mesh::SnapshotPtr& snapshot,
                                                        std::string_view ip) {
    std::map<std::string, cache::ResourcePtr> resources;
    const auto proxy = Client("default", ip);
    proxy->id = StrCat(ip.ends_with("1") ? "a" : "b", ".default");
    for (const cache::ResourcePtr& resource : Generate(snapshot, proxy))
      resources.emplace(resource->name.str(), resource);
    return resources;
  }
};

TEST_F(ListenerPatchesTest, OnlyWhatTheyConcernIsMadeAnew) {
  PutFilter(R"({"workloadSelector": {"labels": {"app": "a"}}, "configPatches": [
      {"applyTo": "LISTENER", "match": {"listener": {"portNumber": 3306}},
       "patch": {"operation": "MERGE", "value": {"tcpBacklogSize": 7}}}]})");
  const mesh::SnapshotPtr snapshot = Build();
  const auto a = ResourcesOf(snapshot, "10.1.0.1"), b = ResourcesOf(snapshot, "10.1.0.2");
  EXPECT_NE(a.at("10.0.0.1_3306")->hash, b.at("10.0.0.1_3306")->hash);
  EXPECT_EQ(a.at("10.0.0.2_5672"), b.at("10.0.0.2_5672"));
  EXPECT_EQ(a.at("virtualOutbound"), b.at("virtualOutbound"));
}

TEST_F(ListenerPatchesTest, RemovedAndAdded) {
  PutFilter(R"({"configPatches": [
      {"applyTo": "LISTENER", "match": {"listener": {"name": "10.0.0.1_3306"}}, "patch": {"operation": "REMOVE"}},
      {"applyTo": "LISTENER", "match": {"context": "SIDECAR_INBOUND"}, "patch": {"operation": "ADD", "value":
        {"name": "mine", "filterChains": [{"filters": [{"name": "x"}]}]}}},
      {"applyTo": "LISTENER", "patch": {"operation": "ADD", "value": {"name": "10.0.0.2_5672"}}},
      {"applyTo": "LISTENER", "match": {"context": "SIDECAR_OUTBOUND"}, "patch": {"operation": "ADD", "value":
        {"name": "mine-too"}}}]})");
  const Listeners listeners = Generated(Client());
  EXPECT_FALSE(listeners.contains("10.0.0.1_3306"));
  EXPECT_EQ(listeners.at("mine").filter_chains(0).filters(0).name(), "x");
  EXPECT_TRUE(listeners.contains("mine-too"));
  EXPECT_GT(listeners.at("10.0.0.2_5672").filter_chains_size(), 0) << "of one name the first counts";
}

TEST_F(ListenerPatchesTest, GoneWithTheirObject) {
  const auto before = ResourcesOf(Build(), "10.1.0.1");
  PutFilter(R"({"configPatches": [
      {"applyTo": "LISTENER", "patch": {"operation": "MERGE", "value": {"tcpBacklogSize": 7}}}]})");
  EXPECT_NE(ResourcesOf(Build(), "10.1.0.1"), before);
  Remove(config::Kind::kEnvoyFilter, "default", "filter");
  EXPECT_EQ(ResourcesOf(Build(), "10.1.0.1"), before);
}

}  // namespace
}  // namespace fairlead::gen::listener
