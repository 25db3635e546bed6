#include "cni/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "cni/conflist.h"
#include "kube/access.h"

namespace fairlead::cni {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

constexpr char kList[] =
    R"({"name": "net", "cniVersion": "1.0.0", "plugins": [{"type": "bridge", "mtu": 1400}, {"type": "portmap"}]})";

std::vector<std::string> Types(const std::string& text) {
  std::vector<std::string> types;
  const auto list = ParseOrderedJson(text).value_or(ordered_json());
  for (const ordered_json& plugin : list.value("plugins", ordered_json::array()))
    types.push_back(plugin["type"]);
  return types;
}

TEST(ConflistTest, APluginComesLastAndOnce) {
  const ordered_json plugin{{"type", "fairlead-cni"}, {"kubeconfig", "/a"}};
  const std::string once = *WithPlugin(kList, plugin);
  EXPECT_THAT(Types(once), testing::ElementsAre("bridge", "portmap", "fairlead-cni"));
  EXPECT_THAT(once, HasSubstr("1400"));
  EXPECT_EQ(*WithPlugin(once, plugin), once);
  EXPECT_THAT(Types(*WithoutPlugin(once, "fairlead-cni")), testing::ElementsAre("bridge", "portmap"));
  EXPECT_EQ(*WithoutPlugin(kList, "fairlead-cni"), kList);
}

TEST(ConflistTest, OnePluginBecomesAList) {
  const std::string list =
      *WithPlugin(R"({"name": "n", "cniVersion": "0.4.0", "type": "bridge"})", {{"type", "x"}});
  EXPECT_THAT(Types(list), testing::ElementsAre("bridge", "x"));
  EXPECT_THAT(list, HasSubstr("\"cniVersion\": \"0.4.0\""));
}

TEST(ConflistTest, OtherTextsAreNone) {
  for (const char* text :
       {"", "[]", "{}", R"({"plugins": []})", R"({"plugins": [{"mtu": 1}]})", R"({"plugins": 3})"})
    EXPECT_FALSE(IsNetworkConfiguration(text)) << text;
}

class InstallTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/fairlead-cni-XXXXXX";
    root_ = mkdtemp(folder);
    options_.network_folder = root_ + "/net.d";
    options_.binary_folder = root_ + "/bin";
    options_.run_folder = root_ + "/run";
    options_.account_folder = root_ + "/account";
    options_.api_host = "10.0.0.1";
    options_.api_port = "443";
    ASSERT_TRUE(CreateFolders(options_.network_folder).ok());
    ASSERT_TRUE(CreateFolders(options_.account_folder).ok());
    Write("account/ca.crt", "roots");
    Write("account/token", "secret\n");
    Write("program", "#!/bin/true\n");
  }
  void TearDown() override { EXPECT_EQ(system(("rm -rf " + root_).c_str()), 0); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(root_ + "/" + name) << text; }
  std::string ReadFile(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(root_ + "/" + name).rdbuf();
    return text.str();
  }
  bool Exists(const std::string& name) {
    struct stat found {};
    return stat((root_ + "/" + name).c_str(), &found) == 0;
  }

  std::string root_;
  NodeOptions options_;
};

TEST_F(InstallTest, InstallsAndRemovesItself) {
  Write("net.d/10-net.conflist", kList);
  Write("net.d/20-other.conflist", kList);
  ASSERT_EQ(chmod((root_ + "/net.d/10-net.conflist").c_str(), 0640), 0);
  Installation installation(options_, root_ + "/program");
  ASSERT_TRUE(installation.Renew().ok()) << installation.Renew();
  EXPECT_THAT(Types(ReadFile("net.d/10-net.conflist")),
              testing::ElementsAre("bridge", "portmap", "fairlead-cni"));
  EXPECT_EQ(ReadFile("net.d/20-other.conflist"), kList);
  EXPECT_EQ(ReadFile("bin/fairlead-cni"), "#!/bin/true\n");
  struct stat found {};
  stat((root_ + "/net.d/10-net.conflist").c_str(), &found);
  EXPECT_EQ(found.st_mode & 0777, 0640U);
  stat((root_ + "/run/istio-cni-kubeconfig").c_str(), &found);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  const auto access = kube::ReadKubeconfig(root_ + "/run/istio-cni-kubeconfig");
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->token, "secret");
  EXPECT_EQ(access->tls.roots, "roots");
  ASSERT_TRUE(installation.Remove().ok());
  EXPECT_THAT(Types(ReadFile("net.d/10-net.conflist")), testing::ElementsAre("bridge", "portmap"));
  EXPECT_FALSE(Exists("bin/fairlead-cni") || Exists("run/istio-cni-kubeconfig"));
}

TEST_F(InstallTest, ASinglePluginsFileBecomesAList) {
  Write("net.d/10-net.conf", R"({"name": "n", "cniVersion": "0.3.1", "type": "bridge"})");
  Installation installation(options_, root_ + "/program");
  ASSERT_TRUE(installation.Renew().ok());
  EXPECT_FALSE(Exists("net.d/10-net.conf"));
  EXPECT_THAT(Types(ReadFile("net.d/10-net.conflist")), testing::ElementsAre("bridge", "fairlead-cni"));
}

TEST_F(InstallTest, WhatSomebodyUndoesAndANewTokenComeBack) {
  Write("net.d/10-net.conflist", kList);
  Installation installation(options_, root_ + "/program");
  ASSERT_TRUE(installation.Renew().ok());
  Write("net.d/10-net.conflist", kList);
  Write("account/token", "newer");
  ASSERT_EQ(unlink((root_ + "/bin/fairlead-cni").c_str()), 0);
  ASSERT_TRUE(installation.Renew().ok());
  EXPECT_THAT(Types(ReadFile("net.d/10-net.conflist")), testing::Contains("fairlead-cni"));
  EXPECT_THAT(ReadFile("run/istio-cni-kubeconfig"), HasSubstr("newer"));
  EXPECT_TRUE(Exists("bin/fairlead-cni"));
}

TEST_F(InstallTest, WithoutANetworkConfigurationItIsAwaited) {
  Write("net.d/99-readme.txt", "x");
  Write("net.d/10-broken.conflist", "{");
  EXPECT_EQ(Installation(options_, root_ + "/program").Renew().code(), absl::StatusCode::kNotFound);
  options_.chained = "false";
  EXPECT_TRUE(Installation(options_, root_ + "/program").Renew().ok());
  EXPECT_THAT(ReadFile("net.d/10-fairlead-cni.conf"), HasSubstr("\"cniVersion\": \"0.3.1\""));
}

TEST(ReadNodeOptionsTest, FlagsAndVariables) {
  const auto get = [](const char* name) {
    return std::string_view(name) == "REPAIR_DELETE_PODS" ? "T" : nullptr;
  };
  const auto options =
      ReadNodeOptions({"--repair-label-pods", "--cni-conf-name=a", "--plugin-name", "b"}, get);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(IsOn(options->delete_pods) && IsOn(options->label_pods) && !IsOn(options->repair_pods));
  EXPECT_EQ(options->network_file + options->plugin_name, "ab");
  const auto error = [&](const std::string& word) {
    return std::string(FromAbsl(ReadNodeOptions({word}, get).status().message()));
  };
  EXPECT_THAT(error("--repair-delete-pod"), HasSubstr("did you mean --repair-delete-pods?"));
  EXPECT_THAT(error("--once=maybe"), HasSubstr("neither true nor false"));
  EXPECT_THAT(error("--repair-init-container-exit-code=x"), HasSubstr("no number"));
  EXPECT_THAT(error("--plugin-name"), HasSubstr("a value must follow"));
  EXPECT_THAT(NodeUsage(), HasSubstr("--mounted-cni-net-dir"));
}

}  // namespace
}  // namespace fairlead::cni
