#include "cni/pod_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/json_reader.h"

namespace fairlead::cni {
namespace {

using testing::HasSubstr;

PodFacts Read(const std::string& json) {
  const auto tree = config::JsonReader().Read(json);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return ReadPodFacts(tree->root());
}

PodFacts Injected() {
  return Read(R"({
    "metadata": {"name": "web-0", "namespace": "shop", "uid": "u1", "resourceVersion": "7", "labels": {"app": "web"},
                 "annotations": {"sidecar.istio.io/status": "{}"}},
    "spec": {"initContainers": [{"name": "istio-validation"}],
             "containers": [{"name": "app"}, {"name": "istio-proxy", "args": ["proxy", "sidecar"],
               "env": [{"name": "ISTIO_META_DNS_CAPTURE", "value": "true"}],
               "securityContext": {"runAsUser": 2000, "runAsGroup": 0}}]},
    "status": {"podIP": "10.1.2.3", "initContainerStatuses": [{"name": "istio-validation",
               "state": {"waiting": {"reason": "CrashLoopBackOff"}},
               "lastState": {"terminated": {"exitCode": 126, "reason": "Error", "message": "no rules"}}}]}})");
}

TEST(ReadPodFactsTest, WhatDecides) {
  const PodFacts pod = Injected();
  EXPECT_EQ(pod.ns + "/" + pod.name + " " + pod.uid + " " + pod.version + " " + pod.address,
            "shop/web-0 u1 7 10.1.2.3");
  EXPECT_EQ(pod.containers.size(), 3U);
  EXPECT_EQ(pod.proxy_type, "sidecar");
  EXPECT_EQ(pod.proxy_user, 2000);
  ASSERT_EQ(pod.init_containers.size(), 1U);
  EXPECT_FALSE(pod.init_containers[0].end);
  EXPECT_EQ(pod.init_containers[0].last_end->exit_code, 126);
  EXPECT_EQ(pod.init_containers[0].last_end->message, "no rules");
  EXPECT_TRUE(Read("{}").containers.empty());
  EXPECT_TRUE(Read(R"({"metadata": 1, "spec": [], "status": {"initContainerStatuses": {}}})").name.empty());
}

TEST(JudgePodTest, AnInjectedPodIsRedirectedAsItsAnnotationsSay) {
  PodFacts pod = Injected();
  pod.annotations["traffic.sidecar.istio.io/excludeInboundPorts"] = "22, 15021";
  pod.annotations["traffic.sidecar.istio.io/includeOutboundIPRanges"] = "10.0.0.0/8";
  pod.annotations["traffic.sidecar.istio.io/kubevirtInterfaces"] = "net1";
  pod.annotations["istio.io/reroute-virtual-interfaces"] = "net2";
  pod.annotations["sidecar.istio.io/interceptionMode"] = "TPROXY";
  const auto verdict = JudgePod(pod);
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict->why_not, "");
  const redirect::RedirectOptions& options = verdict->options;
  EXPECT_EQ(options.excluded_inbound_ports, "22,15021,15020,15090");
  EXPECT_EQ(options.excluded_outbound_ports, "15020");
  EXPECT_EQ(options.ranges, "10.0.0.0/8");
  EXPECT_EQ(options.inbound_ports, "*");
  EXPECT_EQ(options.virtual_interfaces, "net2");
  EXPECT_EQ(options.mode, "TPROXY");
  EXPECT_EQ(options.proxy_users, "2000");
  EXPECT_EQ(options.proxy_groups, "1337");
  EXPECT_TRUE(options.redirect_dns && options.capture_all_dns);
}

std::string WhyNot(const PodFacts& pod) {
  const auto verdict = JudgePod(pod);
  return verdict.ok() ? verdict->why_not : "wrong";
}

TEST(JudgePodTest, OthersAreLeftAlone) {
  PodFacts pod = Injected();
  pod.containers.insert("istio-init");
  EXPECT_THAT(WhyNot(pod), HasSubstr("istio-init"));
  pod = Injected();
  pod.containers.erase("istio-proxy");
  EXPECT_THAT(WhyNot(pod), HasSubstr("no container istio-proxy"));
  pod = Injected();
  pod.proxy_type = "router";
  EXPECT_THAT(WhyNot(pod), HasSubstr("router"));
  pod = Injected();
  pod.annotations.clear();
  EXPECT_THAT(WhyNot(pod), HasSubstr("sidecar.istio.io/status"));
  pod = Injected();
  pod.annotations["sidecar.istio.io/inject"] = "false";
  EXPECT_THAT(WhyNot(pod), HasSubstr("inject is false"));
  pod.labels["sidecar.istio.io/inject"] = "true";
  EXPECT_EQ(WhyNot(pod), "");
  pod.proxy_environment["DISABLE_ENVOY"] = "true";
  EXPECT_THAT(WhyNot(pod), HasSubstr("DISABLE_ENVOY"));
}

TEST(JudgePodTest, WrongAnnotationsAreNamed) {
  for (const auto& [name, value] :
       PodFacts::Texts{{"sidecar.istio.io/interceptionMode", "MAGIC"},
                       {"traffic.sidecar.istio.io/includeOutboundIPRanges", "10.0.0.1"},
                       {"traffic.sidecar.istio.io/excludeOutboundIPRanges", "*"},
                       {"traffic.sidecar.istio.io/includeInboundPorts", "http"},
                       {"traffic.sidecar.istio.io/excludeInterfaces", "sixteenlongletters"}}) {
    PodFacts pod = Injected();
    pod.annotations[name] = value;
    const auto verdict = JudgePod(pod);
    EXPECT_THAT(std::string(FromAbsl(verdict.status().message())),
                HasSubstr(StrCat(name, ": \"", value, "\"")));
  }
}

}  // namespace
}  // namespace fairlead::cni
