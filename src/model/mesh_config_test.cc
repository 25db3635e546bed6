#include "model/mesh_config.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/no_effect.h"
#include "config/read/yaml.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"

namespace fairlead::model {
namespace {

using google::protobuf::util::MessageDifferencer;
using istio::mesh::v1alpha1::MeshConfig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> Texts(const std::vector<config::Diagnostic>& diagnostics) {
  std::vector<std::string> texts;
  texts.reserve(diagnostics.size());
  for (const config::Diagnostic& diagnostic : diagnostics) texts.push_back(ToText(diagnostic));
  return texts;
}

MeshConfig Parse(std::string_view text) {
  const MeshConfigResult result = ParseMeshConfig(text, "mesh.yaml");
  EXPECT_THAT(Texts(result.diagnostics), IsEmpty());
  return result.mesh != nullptr ? *result.mesh : MeshConfig();
}

TEST(MeshConfigTest, NothingIsTheDefault) {
  EXPECT_TRUE(MessageDifferencer::Equals(Parse(""), *DefaultMeshConfig()));
  EXPECT_TRUE(MessageDifferencer::Equals(Parse("# nothing\n"), *DefaultMeshConfig()));
  EXPECT_TRUE(
      MessageDifferencer::Equals(Parse("{defaultConfig: null, rootNamespace: null}"), *DefaultMeshConfig()));
  EXPECT_EQ(DefaultMeshConfig()->root_namespace(), "istio-system");
  EXPECT_EQ(DefaultMeshConfig()->default_config().discovery_address(), "istiod.istio-system.svc:15012");
}

TEST(MeshConfigTest, FieldsReplaceTheDefaults) {
  const MeshConfig mesh = Parse(R"(
rootNamespace: root
enableAutoMtls: off
connectTimeout: 1m30s
defaultServiceExportTo: ["."]
localityLbSetting: {distribute: [{from: a/*, to: {b: 100}}]}
trustDomainAliases: [z, a, z]
)");
  EXPECT_EQ(mesh.root_namespace(), "root");
  EXPECT_FALSE(mesh.enable_auto_mtls().value());
  EXPECT_EQ(mesh.connect_timeout().seconds(), 90);
  EXPECT_THAT(mesh.default_service_export_to(), ElementsAre("."));
  EXPECT_THAT(mesh.default_virtual_service_export_to(), ElementsAre("*"));
  EXPECT_FALSE(mesh.locality_lb_setting().has_enabled());
  EXPECT_THAT(mesh.trust_domain_aliases(), ElementsAre("a", "z"));
  EXPECT_TRUE(mesh.enable_prometheus_merge().value());
}

TEST(MeshConfigTest, WhatIsNotActedOnIsSaidOnce) {
  const auto said = [](std::string_view text) {
    std::vector<std::string> paths;
    for (const config::Diagnostic& one : ParseMeshConfig(text, "mesh.yaml").diagnostics) {
      if (one.code == config::kNoEffectCode) paths.push_back(StrCat(one.line, ":", one.path));
    }
    return paths;
  };
  EXPECT_THAT(said("rootNamespace: root\nenablePrometheusMerge: true\n"), IsEmpty());
  EXPECT_THAT(
      said("rootNamespace: root\nhboneIdleTimeout: 3s\nenablePrometheusMerge: false\ncertificates: []\n"),
      UnorderedElementsAre("4:certificates", "2:hboneIdleTimeout"));
}

TEST(MeshConfigTest, MergesDefaultConfigFieldByField) {
  const MeshConfig mesh = Parse(R"(
defaultConfig:
  discoveryAddress: here:15012
  proxyMetadata: {A: b}
  drainDuration: 1s
)");
  EXPECT_EQ(mesh.default_config().discovery_address(), "here:15012");
  EXPECT_EQ(mesh.default_config().drain_duration().seconds(), 1);
  EXPECT_EQ(mesh.default_config().status_port(), 15020);
  EXPECT_EQ(mesh.default_config().service_cluster(), "istio-proxy");
}

TEST(MeshConfigTest, MergesProvidersByName) {
  const MeshConfig mesh = Parse(R"(
extensionProviders:
- name: envoy
  envoyFileAccessLog: {path: /tmp/log}
- name: zipkin
  zipkin: {service: z.local, port: 9411}
defaultProviders:
  accessLogging: [envoy]
)");
  ASSERT_EQ(mesh.extension_providers_size(), 4);
  EXPECT_EQ(mesh.extension_providers(0).name(), "prometheus");
  EXPECT_EQ(mesh.extension_providers(2).envoy_file_access_log().path(), "/tmp/log");
  EXPECT_EQ(mesh.extension_providers(3).zipkin().port(), 9411u);
  EXPECT_THAT(mesh.default_providers().access_logging(), ElementsAre("envoy"));
}

TEST(MeshConfigTest, PassesUnknownFieldsOverWithAWarning) {
  const MeshConfigResult result =
      ParseMeshConfig("rootNamespce: a\ndefaultConfig: {nope: 1}\nrootNamespace: b\n", "m");
  EXPECT_THAT(
      Texts(result.diagnostics),
      ElementsAre("m:1: warning: rootNamespce: unknown field, passed over; did you mean \"rootNamespace\"? "
                  "(unknown-field)",
                  HasSubstr("m:2: warning: defaultConfig.nope: unknown field")));
  ASSERT_NE(result.mesh, nullptr);
  EXPECT_EQ(result.mesh->root_namespace(), "b");
}

TEST(MeshConfigTest, OtherMistakesLeaveNothing) {
  for (std::string_view text :
       {"connectTimeout: soon", "- a", "a: [", "rootNamespace: a\nrootNamespace: b",
        "outboundTrafficPolicy: {mode: SOME}", "rootNamespace: a\n---\nrootNamespace: b\n"}) {
    const MeshConfigResult result = ParseMeshConfig(text, "m");
    EXPECT_EQ(result.mesh, nullptr) << text;
    EXPECT_EQ(result.diagnostics.size(), 1u) << text;
  }
}

TEST(MergeProxyConfigTest, HeadersAndMetadataFallThrough) {
  istio::mesh::v1alpha1::ProxyConfig proxy;
  (*proxy.mutable_proxy_metadata())["A"] = "1";
  (*proxy.mutable_proxy_metadata())["B"] = "1";
  proxy.mutable_proxy_headers()->mutable_server()->set_value("lower");
  proxy.mutable_proxy_headers()->mutable_request_id()->mutable_disabled()->set_value(true);
  const config::YamlDocument upper =
      config::ParseYamlDocument("{proxyMetadata: {A: '2'}, proxyHeaders: {server: {value: upper}}}");
  config::Report report("f");
  EXPECT_TRUE(MergeProxyConfig(upper.tree.root(), config::FieldPath(), report, &proxy));
  EXPECT_EQ(proxy.proxy_metadata().at("A"), "2");
  EXPECT_EQ(proxy.proxy_metadata().at("B"), "1");
  EXPECT_EQ(proxy.proxy_headers().server().value(), "upper");
  EXPECT_TRUE(proxy.proxy_headers().request_id().disabled().value());
}

TEST(MeshNetworksTest, ReadsNetworks) {
  const MeshNetworksResult result = ParseMeshNetworks(R"(
networks:
  one:
    endpoints: [{fromRegistry: Kubernetes}, {fromCidr: 10.0.0.0/8}]
    gateways: [{address: 1.2.3.4, port: 15443}]
)",
                                                      "networks.yaml");
  EXPECT_THAT(Texts(result.diagnostics), IsEmpty());
  ASSERT_NE(result.networks, nullptr);
  EXPECT_EQ(result.networks->networks().at("one").gateways(0).port(), 15443u);
  EXPECT_EQ(ParseMeshNetworks("", "n").networks->networks_size(), 0);
  EXPECT_EQ(ParseMeshNetworks("networks: 5", "n").networks, nullptr);
}

TEST(SettingsTest, TakeNamesFromTheMesh) {
  const SettingsPtr defaults = MakeSettings(nullptr, nullptr, "cluster.local", "Kubernetes");
  EXPECT_EQ(defaults->root_namespace, "istio-system");
  EXPECT_NE(defaults->networks, nullptr);
  const SettingsPtr own =
      MakeSettings(ParseMeshConfig("{rootNamespace: r, trustDomain: t}", "m").mesh, nullptr, "d", "c");
  EXPECT_EQ(own->root_namespace, "r");
  EXPECT_EQ(own->trust_domain, "t");
  EXPECT_EQ(own->domain, "d");
  EXPECT_EQ(own->cluster_id, "c");
}

}  // namespace
}  // namespace fairlead::model
