#include "gen/generator.h"

#include <google/protobuf/any.pb.h>

#include "config/kubernetes_types.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "gen/extension/build.h"
#include "gen/extension/plugin_fixture.h"
#include "gen/extension/pull_secret.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::extension {
namespace {

using envoy::config::core::v3::TypedExtensionConfig;

constexpr char kPrefix[] = "extensions.istio.io/trafficextension/";
constexpr char kMark[] = "~istio-translated-wasmplugin";

class ExtensionGeneratorTest : public PluginFixture {
 protected:
  Resources Ask(const Names& names) {
    const mesh::SnapshotPtr snapshot = Build();
    return GenerateFor(*generator_, *snapshot, *Scope(snapshot), &names);
  }
  static TypedExtensionConfig Decode(const cache::ResourcePtr& resource) {
    google::protobuf::Any any;
    TypedExtensionConfig config;
    EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&config));
    return config;
  }
  static envoy::extensions::wasm::v3::PluginConfig Wasm(const TypedExtensionConfig& config) {
    envoy::extensions::filters::http::wasm::v3::Wasm wasm;
    EXPECT_TRUE(config.typed_config().UnpackTo(&wasm));
    return wasm.config();
  }

  std::unique_ptr<Generator> generator_ = NewExtensionGenerator();
};

TEST_F(ExtensionGeneratorTest, WasmPlugin) {
  PutWasm("default", "m", R"("pluginName": "root", "failStrategy": "FAIL_OPEN", "imagePullPolicy": "Always",
      "imagePullSecret": "cred", "sha256": "abc", "pluginConfig": {"b": 1.5, "a": ["<x>", null]},
      "vmConfig": {"env": [{"name": "A", "value": "1"}, {"name": "H", "valueFrom": "HOST"}]})");
  const Resources made = Ask({StrCat(kPrefix, "default.m", kMark)});
  ASSERT_EQ(made.size(), 1u);
  const auto plugin = Wasm(Decode(made[0]));
  EXPECT_EQ(plugin.name(), "default.m~istio-translated-wasmplugin");
  EXPECT_EQ(plugin.root_id(), "root");
  EXPECT_EQ(plugin.failure_policy(), envoy::extensions::wasm::v3::FAIL_OPEN);
  EXPECT_NE(plugin.configuration().value().find(R"({"a":["<x>",null],"b":1.5})"), std::string::npos);
  const auto& vm = plugin.vm_config();
  EXPECT_EQ(vm.code().remote().http_uri().uri(), "oci://r.example.com/m");
  EXPECT_EQ(vm.code().remote().sha256(), "abc");
  const auto& environment = vm.environment_variables();
  EXPECT_EQ(environment.host_env_keys(0), "H");
  EXPECT_EQ(environment.key_values().at("A"), "1");
  EXPECT_EQ(environment.key_values().at("ISTIO_META_WASM_IMAGE_PULL_POLICY"), "Always");
  EXPECT_EQ(environment.key_values().at("ISTIO_META_WASM_IMAGE_PULL_SECRET"), "");
}

// Who has proven who it is, and is selected, gets the credentials.
TEST_F(ExtensionGeneratorTest, PullSecrets) {
  PutWasm("default", "m", R"("imagePullSecret": "cred")");
  PutWasm("default", "other", R"("imagePullSecret": "cred", "selector": {"matchLabels": {"app": "other"}})");
  PutWasm("default", "opaque", R"("imagePullSecret": "kubernetes://elsewhere/opaque")");
  PutWasm("default", "missing", R"("imagePullSecret": "missing")");
  config::SecretSpec secret{.type = "kubernetes.io/dockerconfigjson", .data = {{".dockerconfigjson", "{}"}}};
  Put(config::Kind::kSecret, "default", "cred", secret);
  secret.type = "Opaque";
  Put(config::Kind::kSecret, "default", "opaque", secret);
  const mesh::SnapshotPtr snapshot = Build();
  auto proxy = std::make_shared<model::Proxy>(*MakeProxy("default", "client", "10.0.0.1"));
  const auto of = [&](const char* name) {
    const Names names{StrCat(kPrefix, "default.", name, kMark)};
    const auto scope = mesh::ComputeProxyScope(*snapshot, proxy);
    const Resources made = GenerateFor(*generator_, *snapshot, *scope, &names);
    return Wasm(Decode(made.at(0)))
        .vm_config()
        .environment_variables()
        .key_values()
        .at(std::string(kPullSecretVariable));
  };
  EXPECT_EQ(of("m"), "") << "it has proven nothing";
  proxy->identity = model::PeerIdentity{};
  EXPECT_EQ(of("m"), "{}");
  EXPECT_EQ(of("other"), "");
  EXPECT_EQ(of("opaque"), "");
  EXPECT_EQ(of("missing"), "");
}

TEST_F(ExtensionGeneratorTest, WhereModulesAre) {
  PutWasm("default", "image", "", 0, "registry.example.com/m:1.0");
  PutWasm("default", "file", "", 0, "file:///opt/m.wasm");
  const Resources made =
      Ask({StrCat(kPrefix, "default.file", kMark), StrCat(kPrefix, "default.image", kMark)});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(Wasm(Decode(made[0])).vm_config().code().local().filename(), "/opt/m.wasm");
  EXPECT_EQ(Wasm(Decode(made[1])).vm_config().code().remote().http_uri().uri(),
            "oci://registry.example.com/m:1.0");
}

TEST_F(ExtensionGeneratorTest, NamesOfNothingAndOfOthersGetNothing) {
  PutWasm("other", "m");
  PutWasm("istio-system", "root");
  PutExtension("default", "script", R"({"lua": {"inlineCode": "-- x"}})");
  const Resources made = Ask({StrCat(kPrefix, "default.script"), StrCat(kPrefix, "istio-system.root", kMark),
                              StrCat(kPrefix, "other.m", kMark), "made-up"});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0]->name, StrCat(kPrefix, "istio-system.root", kMark));
}

TEST_F(ExtensionGeneratorTest, WhatEnvoyFiltersAdd) {
  using istio::networking::v1alpha3::EnvoyFilter;
  Put(config::Kind::kEnvoyFilter, "default", "f", ParseSpec<EnvoyFilter>(R"({"configPatches": [
      {"applyTo": "EXTENSION_CONFIG", "match": {"context": "SIDECAR_INBOUND"}, "patch": {"operation": "ADD", "value":
        {"name": "mine", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors"}}}}]})"));
  const Resources made = Ask({"mine"});
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(Decode(made[0]).typed_config().type_url().ends_with("Cors"));
}

TEST_F(ExtensionGeneratorTest, VerdictsForProxiesWithoutTheRuntime) {
  const auto verdict = [&](std::string_view strategy) {
    TypedExtensionConfig config;
    const auto object = PutWasm("default", "m", strategy);
    BuildExtension({object, /*has_wasm=*/false}, "m", &config);
    EXPECT_TRUE(config.typed_config().type_url().ends_with("http.rbac.v3.RBAC"));
    return config.typed_config().value().empty() ? "open" : "closed";
  };
  EXPECT_STREQ(verdict(""), "closed");
  EXPECT_STREQ(verdict(R"("failStrategy": "FAIL_OPEN")"), "open");
}

}  // namespace
}  // namespace fairlead::gen::extension
