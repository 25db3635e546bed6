#include "app/node_pods.h"

#include <gtest/gtest.h>

#include "config/kubernetes_types.h"
#include "config/store.h"

namespace fairlead::app {
namespace {

config::ObjectChange Pod(const char* ns, const char* name, const char* account, const char* node) {
  config::PodSpec spec;
  spec.service_account = account;
  spec.node_name = node;
  config::ObjectMeta meta;
  meta.ns = ns;
  meta.name = name;
  meta.uid = "u";
  auto object = std::make_shared<config::ConfigObject>(config::Kind::kPod, std::move(meta), config::Origin{},
                                                       std::make_shared<const config::PodSpec>(spec), 1);
  return {config::KeyOf(*object), object};
}

TEST(NodePods, ANodeRunsThePodsThatAreWrittenForIt) {
  const std::vector<config::ObjectChange> changes = {
      Pod("kube-system", "ztunnel-1", "ztunnel", "n1"), Pod("shop", "web-0", "web", "n1"),
      Pod("shop", "db-0", "db", "n2"), Pod("shops", "web-0", "other", "n1")};
  config::ObjectStore store;
  store.Apply(changes);
  auto snapshot = std::make_shared<mesh::MeshSnapshot>();
  snapshot->written = std::make_shared<const mesh::WrittenObjects>(nullptr, store, changes);
  const NodePods pods([&] { return snapshot; });
  const auto agent = pods.Find("", "kube-system", "ztunnel-1");
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->node, "n1");
  EXPECT_EQ(agent->uid, "u");
  EXPECT_EQ(agent->service_account, "ztunnel");
  EXPECT_FALSE(pods.Find("", "kube-system", "ztunnel-2"));
  EXPECT_FALSE(pods.Find("east", "kube-system", "ztunnel-1")) << "of another cluster";
  EXPECT_TRUE(pods.Runs("", "shop", "web", "n1"));
  EXPECT_FALSE(pods.Runs("", "shop", "web", "n2"));
  EXPECT_FALSE(pods.Runs("", "shop", "other", "n1")) << "that is of the namespace behind it";
  EXPECT_FALSE(pods.Runs("", "none", "web", "n1"));
}

TEST(NodePods, WithoutPodsNobodyRuns) {
  const auto snapshot = std::make_shared<mesh::MeshSnapshot>();
  const NodePods pods([&] { return snapshot; });
  EXPECT_FALSE(pods.Find("", "shop", "web-0"));
  EXPECT_FALSE(pods.Runs("", "shop", "web", ""));
}

}  // namespace
}  // namespace fairlead::app
