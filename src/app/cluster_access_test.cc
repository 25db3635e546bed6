#include "app/cluster_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/derivations.h"
#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::app {
namespace {

using ::testing::HasSubstr;

DiscoveryOptions Options(std::string config_dir, std::string kubeconfig, std::string host) {
  DiscoveryOptions options;
  options.config_dir = std::move(config_dir);
  options.kubeconfig = std::move(kubeconfig);
  options.environment.kubernetes_host = std::move(host);
  options.environment.kubernetes_port = "443";
  return options;
}

TEST(ClusterAccess, AClusterIsReadThatIsNamedOrThatOneIsIn) {
  EXPECT_TRUE(ReadsCluster(Options("", "kc", "")));
  EXPECT_TRUE(ReadsCluster(Options("mesh", "kc", "")));
  EXPECT_TRUE(ReadsCluster(Options("", "", "10.96.0.1")));
  EXPECT_FALSE(ReadsCluster(Options("mesh", "", "10.96.0.1"))) << "files alone, as istiod";
  EXPECT_FALSE(ReadsCluster(Options("", "", "")));
}

TEST(ClusterAccess, MistakesNameTheFlagAndThePlace) {
  const source::TestFolder folder;
  folder.Write("kc", "current-context: a\ncontexts: []\n");
  const auto broken = ClusterAccessOf(Options("", folder / "kc", ""));
  EXPECT_EQ(std::string(FromAbsl(broken.status().message())),
            StrCat("--kubeconfig: ", folder / "kc", ":1: current-context: there is no context \"a\""));
  const auto missing = ClusterAccessOf(Options("", folder / "none", ""));
  EXPECT_THAT(std::string(FromAbsl(missing.status().message())), HasSubstr(folder / "none"));
}

// Without a service account's folder the pod's own cluster cannot be read, and the message says so.
TEST(ClusterAccess, AnExternalControlPlaneMayHaveItsSecretsInItsOwnCluster) {
  const source::TestFolder folder;
  folder.Write("kc",
               "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
               "clusters: [{name: c, cluster: {server: 'https://mesh'}}]\n");
  DiscoveryOptions options = Options("", folder / "kc", "10.96.0.1");
  const auto secrets = [&options] { return RemoteSecretAccessOf(options); };
  ASSERT_TRUE(secrets().ok());
  EXPECT_EQ(secrets()->server, "https://mesh");
  options.environment.local_secrets = true;
  EXPECT_EQ(secrets()->server, "https://mesh") << "this control plane is in the mesh's cluster";
  options.environment.external_control_plane = true;
  EXPECT_THAT(std::string(FromAbsl(secrets().status().message())), HasSubstr("the cluster's credentials"));
  EXPECT_EQ(ClusterAccessOf(options)->server, "https://mesh") << "the mesh is read there all the same";
  options.environment.local_secrets = false;
  EXPECT_EQ(secrets()->server, "https://mesh");
}

TEST(ClusterAccess, AClusterHasControllersOfItsOwn) {
  EXPECT_TRUE(DerivationOptionsOf(Options("mesh", "", "")).controllers);
  EXPECT_FALSE(DerivationOptionsOf(Options("", "kc", "")).controllers);
  EXPECT_FALSE(DerivationOptionsOf(Options("mesh", "kc", "")).controllers);
}

}  // namespace
}  // namespace fairlead::app
