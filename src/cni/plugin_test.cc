#include "cni/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"

namespace fairlead::cni {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kConfig[] =
    R"({"cniVersion": "1.0.0", "name": "net", "type": "fairlead-cni", "kubeconfig": "/k",
  "exclude_namespaces": ["kube-system"], "pod_namespace": "mesh", "plugin_log_level": "error",
  "prevResult": {"cniVersion": "1.0.0", "interfaces": [{"name": "eth0"}], "ips": [{"address": "10.1.2.3/24"}], "dns": {}}})";

// A runtime and its world.
struct Runtime {
  std::map<std::string, std::string> variables = {
      {"CNI_COMMAND", "ADD"},
      {"CNI_CONTAINERID", "c1"},
      {"CNI_NETNS", "/var/run/netns/p"},
      {"CNI_IFNAME", "eth0"},
      {"CNI_PATH", "/opt/cni/bin"},
      {"CNI_ARGS", "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0"}};
  absl::StatusOr<PodFacts> pod = PodFacts();
  absl::Status applied, verified, status;
  int failures_before = 0;
  std::vector<std::string> done;
  int code = 0;

  Runtime() {
    pod->containers = {"istio-proxy"};
    pod->annotations = {{"sidecar.istio.io/status", "{}"}};
  }

  json Call(const std::string& command, const std::string& config = kConfig) {
    variables["CNI_COMMAND"] = command;
    const PluginWorld world{
        .find_pod = [this](const PluginConfig& with, const PluginCall& call) -> absl::StatusOr<PodFacts> {
          done.push_back("find " + call.pod_namespace + "/" + call.pod + " by " + with.kubeconfig);
          if (failures_before-- > 0) return absl::UnavailableError("down");
          return pod;
        },
        .redirect =
            [this](const PluginCall& call, const redirect::RedirectOptions& options) {
              done.push_back("redirect " + call.network_namespace +
                             (options.native_nftables ? " by nft" : ""));
              return applied;
            },
        .verify =
            [this](const PluginCall& call, const redirect::RedirectOptions&) {
              done.push_back("verify " + call.network_namespace);
              return verified;
            },
        .status = [this](const PluginConfig&) { return status; },
        .pause = [this] { done.emplace_back("pause"); },
    };
    std::ostringstream output;
    code = AnswerRuntime(
        [this](const char* name) { return variables.count(name) == 0 ? nullptr : variables[name].c_str(); },
        config, world, output);
    return ParseJson(output.str()).value_or(json());
  }
};

TEST(PluginTest, AddRedirectsAndPassesTheResultOn) {
  Runtime runtime;
  const json answer = runtime.Call("ADD");
  EXPECT_EQ(runtime.code, 0);
  EXPECT_THAT(runtime.done, ElementsAre("find shop/web-0 by /k", "redirect /var/run/netns/p"));
  EXPECT_EQ(answer, ParseJson(kConfig)->at("prevResult"));
}

TEST(PluginTest, AddWithoutAResultBeforeGivesAnEmptyOne) {
  Runtime runtime;
  EXPECT_EQ(runtime.Call("ADD", R"({"cniVersion": "0.3.1", "name": "n", "native_nftables": true})"),
            json({{"cniVersion", "0.3.1"}}));
  EXPECT_THAT(runtime.done, ElementsAre("find shop/web-0 by /var/run/istio-cni/istio-cni-kubeconfig",
                                        "redirect /var/run/netns/p by nft"));
}

TEST(PluginTest, PodsOfOthersPassUntouched) {
  Runtime runtime;
  runtime.variables["CNI_ARGS"] = "IgnoreUnknown=1";
  EXPECT_EQ(runtime.Call("ADD")["ips"][0]["address"], "10.1.2.3/24");
  runtime.variables["CNI_ARGS"] = "K8S_POD_NAMESPACE=kube-system;K8S_POD_NAME=web-0";
  runtime.Call("ADD");
  runtime.variables["CNI_ARGS"] = "K8S_POD_NAMESPACE=mesh;K8S_POD_NAME=fairlead-cni-x7";
  runtime.Call("ADD");
  EXPECT_THAT(runtime.done, ElementsAre());
  runtime.pod->containers = {"app"};
  runtime.variables["CNI_ARGS"] = "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0";
  EXPECT_EQ(runtime.Call("ADD")["cniVersion"], "1.0.0");
  EXPECT_THAT(runtime.done, ElementsAre("find shop/web-0 by /k"));
}

TEST(PluginTest, AnApiServerThatIsDownIsAskedAgain) {
  Runtime runtime;
  runtime.failures_before = 2;
  runtime.Call("ADD");
  EXPECT_EQ(runtime.code, 0);
  EXPECT_EQ(std::count(runtime.done.begin(), runtime.done.end(), "pause"), 2);
  runtime.failures_before = 1000;
  runtime.done.clear();
  const json answer = runtime.Call("ADD");
  EXPECT_EQ(runtime.code, 1);
  EXPECT_EQ(answer["code"], 11);
  EXPECT_THAT(answer["msg"].get<std::string>(), HasSubstr("shop/web-0: down"));
  EXPECT_EQ(std::count(runtime.done.begin(), runtime.done.end(), "pause"), 29);
}

TEST(PluginTest, RulesThatCannotBeAppliedAreAnError) {
  Runtime runtime;
  runtime.applied = absl::UnavailableError("iptables-restore: no");
  const json answer = runtime.Call("ADD");
  EXPECT_EQ(runtime.code, 1);
  EXPECT_EQ(answer["code"], 100);
  EXPECT_EQ(answer["cniVersion"], "1.0.0");
  EXPECT_THAT(answer["msg"].get<std::string>(), HasSubstr("iptables-restore: no"));
}

TEST(PluginTest, CheckVerifiesAndDeleteNeedsNothing) {
  Runtime runtime;
  EXPECT_EQ(runtime.Call("CHECK"), json());
  EXPECT_EQ(runtime.code, 0);
  runtime.verified = absl::NotFoundError("there is no rule x");
  EXPECT_EQ(runtime.Call("CHECK")["code"], 101);
  runtime.done.clear();
  runtime.variables.erase("CNI_NETNS");
  EXPECT_EQ(runtime.Call("DEL"), json());
  EXPECT_EQ(runtime.code, 0);
  EXPECT_THAT(runtime.done, ElementsAre());
  EXPECT_EQ(runtime.Call("GC"), json());
  EXPECT_EQ(runtime.code, 0);
  runtime.status = absl::NotFoundError("no kubeconfig");
  EXPECT_EQ(runtime.Call("STATUS")["code"], 50);
}

TEST(PluginTest, VersionsAreToldAndOthersRefused) {
  Runtime runtime;
  EXPECT_EQ(
      runtime.Call("VERSION", R"({"cniVersion": "9.9"})"),
      json({{"cniVersion", "9.9"}, {"supportedVersions", {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}}}));
  EXPECT_EQ(runtime.Call("ADD", R"({"cniVersion": "0.2.0", "name": "n"})")["code"], 1);
}

TEST(PluginTest, WrongCallsHaveTheSpecificationsCodes) {
  Runtime runtime;
  EXPECT_EQ(runtime.Call("MERGE")["code"], 4);
  runtime.variables.erase("CNI_NETNS");
  EXPECT_THAT(runtime.Call("ADD")["msg"].get<std::string>(), HasSubstr("CNI_NETNS"));
  runtime.variables["CNI_NETNS"] = "/n";
  EXPECT_EQ(runtime.Call("ADD", "no json")["code"], 6);
  EXPECT_EQ(runtime.Call("ADD", R"({"cniVersion": "1.0.0", "exclude_namespaces": 3})")["code"], 7);
  EXPECT_EQ(runtime.Call("ADD", R"({"cniVersion": "1.0.0", "prevResult": []})")["code"], 7);
  EXPECT_EQ(runtime.Call("ADD", R"({"cniVersion": "1.0.0", "ambient_enabled": true})")["code"], 7);
}

}  // namespace
}  // namespace fairlead::cni
