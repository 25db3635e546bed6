#include "gen/patch/pool.h"

#include <google/protobuf/struct.pb.h>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/patch/patch_fixture.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen::patch {
namespace {

using Names = std::vector<std::string>;

class PatchPoolTest : public mesh::MeshFixture {
 protected:
  // An EnvoyFilter that adds a cluster by its own name; `more`: other fields of the spec.
  void PutFilter(std::string_view ns, std::string_view name, std::string_view more = "", int age = 0,
                 std::string_view match = "{}") {
    Put(config::Kind::kEnvoyFilter, ns, name,
        ParseEnvoyFilter(StrCat("{", more, R"("configPatches": [{"applyTo": "CLUSTER", "match": )", match,
                                R"(, "patch": {"operation": "ADD", "value": {"name": ")", name, R"("}}}]})")),
        age);
  }
  PatchSetPtr Collect(Side side = Side::kOutbound) {
    const auto snapshot = Build();
    const auto scope = mesh::ComputeProxyScope(*snapshot, proxy_);
    mesh::View view({*snapshot, scope.get()});
    return pool_.Collect(view, side);
  }
  Names Collected() {
    const PatchSetPtr set = Collect();
    Names names;
    if (set == nullptr) return names;
    for (const PatchPtr& patch : set->all())
      names.push_back(patch->Value<envoy::config::cluster::v3::Cluster>().name());
    return names;
  }

  model::ProxyPtr proxy_ = MakeProxy("default", "client", "10.0.0.1");
  PatchPool pool_{Stage::kClusters};
};

TEST_F(PatchPoolTest, Order) {
  PutFilter("default", "own-old", "", 9);
  PutFilter("default", "own-young");
  PutFilter("istio-system", "root-young");
  PutFilter("istio-system", "first", R"("priority": -1, )");
  PutFilter("default", "last", R"("priority": 5, )", 20);
  PutFilter("other", "elsewhere");
  EXPECT_EQ(Collected(), (Names{"first", "root-young", "own-old", "own-young", "last"}));
}

TEST_F(PatchPoolTest, OfOneAgeByNameAndNamespaceWithADot) {
  PutFilter("default", "lua");
  PutFilter("default", "lua-2");
  PutFilter("default", "lua.x");
  EXPECT_EQ(Collected(), (Names{"lua-2", "lua", "lua.x"}));
}

TEST_F(PatchPoolTest, Selectors) {
  AddPod("default", "client", "10.0.0.1", {{"app", "a"}});
  PutFilter("default", "mine", R"("workloadSelector": {"labels": {"app": "a"}}, )");
  PutFilter("default", "theirs", R"("workloadSelector": {"labels": {"app": "b"}}, )");
  EXPECT_EQ(Collected(), (Names{"mine"}));
}

TEST_F(PatchPoolTest, ProxyVersionAndMetadata) {
  auto proxy = std::make_shared<model::Proxy>(*proxy_);
  google::protobuf::Struct raw;
  (*raw.mutable_fields())["ISTIO_VERSION"].set_string_value("1.27.3");
  (*raw.mutable_fields())["ZONE"].set_string_value("a");
  proxy->metadata.raw = std::make_shared<const model::RawMetadata>(raw);
  proxy_ = proxy;
  PutFilter("default", "old", "", 0, R"({"proxy": {"proxyVersion": "^1\\.2[0-6].*"}})");
  PutFilter("default", "new", "", 0, R"({"proxy": {"proxyVersion": "^1\\.27.*"}})");
  PutFilter("default", "zone-a", "", 0, R"({"proxy": {"metadata": {"ZONE": "a"}}})");
  PutFilter("default", "zone-b", "", 0, R"({"proxy": {"metadata": {"ZONE": "b"}}})");
  PutFilter("default", "long", "", 0,
            StrCat(R"({"proxy": {"proxyVersion": ")", std::string(1025, '.'), "\"}}"));
  EXPECT_EQ(Collected(), (Names{"new", "zone-a"}));
}

TEST_F(PatchPoolTest, EqualSetsAreOneObject) {
  EXPECT_EQ(Collect(), nullptr);
  PutFilter("default", "a");
  const PatchSetPtr set = Collect();
  AddService("default", "web", {80});
  EXPECT_EQ(Collect(), set);
  EXPECT_EQ(Collect(Side::kInbound), nullptr);
}

TEST_F(PatchPoolTest, WhatConcernsNoClusterOfAServiceIsNoPatchOfIt) {
  Put(config::Kind::kEnvoyFilter, "default", "web",
      ParseEnvoyFilter(R"({"configPatches": [{"applyTo": "CLUSTER", "match": {"cluster": {"service": "web"}},
          "patch": {"operation": "MERGE", "value": {"lbPolicy": "RING_HASH"}}}]})"));
  const PatchSetPtr set = Collect();
  EXPECT_EQ(pool_.ForService(set, "web"), set);
  EXPECT_EQ(pool_.ForService(set, "api"), nullptr);
  EXPECT_EQ(pool_.ForCluster(set, "outbound|80||web"), set);
  EXPECT_EQ(pool_.ForCluster(set, "outbound|80||api"), nullptr);
}

}  // namespace
}  // namespace fairlead::gen::patch
