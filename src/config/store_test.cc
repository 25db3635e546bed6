#include "config/store.h"

#include <gmock/gmock.h>

#include <memory>

namespace fairlead::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ConfigPtr Object(Kind kind, std::string_view name, std::string_view cluster, uint64_t content) {
  ObjectMeta meta;
  meta.name = name;
  meta.ns = "shop";
  meta.cluster = cluster;
  return std::make_shared<ConfigObject>(kind, meta, Origin{}, nullptr, content);
}

class ObjectStoreTest : public testing::Test {
 protected:
  size_t Put(Kind kind, std::string_view name, std::string_view cluster, uint64_t content) {
    const ConfigPtr object = Object(kind, name, cluster, content);
    const ObjectChange change{KeyOf(*object), object};
    return store_.Apply({&change, 1}).size();
  }
  size_t Remove(Kind kind, std::string_view name, std::string_view cluster) {
    const ObjectChange change{{kind, "shop", name, cluster}, nullptr};
    return store_.Apply({&change, 1}).size();
  }
  // 0 where there is none.
  uint64_t Content(Kind kind, std::string_view name, std::string_view cluster = "") const {
    const ConfigPtr object = store_.Find(kind, "shop", name, cluster);
    return object == nullptr ? 0 : object->content_hash().low;
  }
  ObjectStore store_;
};

TEST_F(ObjectStoreTest, OneNameInTwoClustersIsTwoObjects) {
  EXPECT_EQ(Put(Kind::kPod, "web-0", "", 1), 1u);
  EXPECT_EQ(Put(Kind::kPod, "web-0", "east", 2), 1u);
  EXPECT_EQ(Put(Kind::kPod, "web-0", "east", 2), 0u) << "it says the same";
  EXPECT_EQ(store_.size(), 2u);
  EXPECT_EQ(Content(Kind::kPod, "web-0"), 1u);
  EXPECT_EQ(Content(Kind::kPod, "web-0", "east"), 2u);
  EXPECT_EQ(Content(Kind::kPod, "web-0", "west"), 0u);
  EXPECT_EQ(store_.All(Kind::kPod).size(), 1u);
  EXPECT_EQ(store_.All(Kind::kPod, "east").size(), 1u);
  EXPECT_THAT(store_.OtherClusters(), ElementsAre("east"));
  EXPECT_EQ(Remove(Kind::kPod, "web-0", "west"), 0u);
  EXPECT_EQ(Remove(Kind::kPod, "web-0", "east"), 1u);
  EXPECT_EQ(Content(Kind::kPod, "web-0"), 1u) << "the own one stays";
  EXPECT_THAT(store_.OtherClusters(), IsEmpty());
}

TEST_F(ObjectStoreTest, RevisionsAreTheOwnClusters) {
  const uint64_t before = store_.Revision(Kind::kService);
  Put(Kind::kService, "web", "east", 1);
  EXPECT_EQ(store_.Revision(Kind::kService), before);
  Put(Kind::kService, "web", "", 1);
  EXPECT_GT(store_.Revision(Kind::kService), before);
}

TEST_F(ObjectStoreTest, CopiesGoApartInEveryCluster) {
  Put(Kind::kPod, "web-0", "east", 1);
  const ObjectStore copy = store_;
  Put(Kind::kPod, "web-0", "east", 2);
  Put(Kind::kPod, "web-0", "west", 1);
  EXPECT_EQ(copy.Find({Kind::kPod, "shop", "web-0", "east"})->content_hash().low, 1u);
  EXPECT_THAT(copy.OtherClusters(), ElementsAre("east"));
}

TEST(ObjectKeyTest, ClustersOfOneNameAreTogetherTheOwnFirst) {
  const ObjectKey own{Kind::kPod, "shop", "web-0"}, east{Kind::kPod, "shop", "web-0", "east"},
      next{Kind::kPod, "shop", "web-1"};
  EXPECT_TRUE(own < east && east < next);
  EXPECT_FALSE(own == east);
  EXPECT_EQ(Describe(own), "Pod shop/web-0");
  EXPECT_EQ(Describe(east), "Pod shop/web-0 of cluster east");
  EXPECT_EQ(Describe({Kind::kNode, "", "n1", "east"}), "Node n1 of cluster east");
}

}  // namespace
}  // namespace fairlead::config
