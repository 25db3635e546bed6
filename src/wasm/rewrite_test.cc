#include "wasm/rewrite.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "base/strings.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/wasm/v3/wasm.pb.h"
#include "udpa/type/v1/typed_struct.pb.h"
#include "wasm/box_fake.h"
#include "wasm/registry_fake.h"

namespace fairlead::wasm {
namespace {

namespace filters = envoy::extensions::filters;
using envoy::config::core::v3::TypedExtensionConfig;
using google::protobuf::Any;
using testing::HasSubstr;

class RewriteTest : public testing::Test {
 protected:
  RewriteTest() {
    registry_.PutFile("m", FakeModule());
    registry_.PutImage("1", "application/wasm", FakeModule("image"));
  }
  ~RewriteTest() override { std::system(("rm -rf " + folder_).c_str()); }
  static ModuleCache::Options Options(const std::string& folder) {
    ModuleCache::Options options;
    options.folder = folder;
    options.download.attempts = 1;
    return options;
  }
  // `config`: JSON of a wasm.v3.PluginConfig, with '.
  template <typename Wasm = filters::http::wasm::v3::Wasm>
  static Any Extension(const std::string& config) {
    Wasm filter;
    EXPECT_TRUE(
        google::protobuf::util::JsonStringToMessage(ReplaceAll(config, "'", "\""), filter.mutable_config())
            .ok())
        << config;
    TypedExtensionConfig extension;
    extension.set_name("plugin");
    extension.mutable_typed_config()->PackFrom(filter);
    Any out;
    out.PackFrom(extension);
    return out;
  }
  static std::string Remote(const std::string& url, const std::string& more = "",
                            const std::string& vm = "") {
    return StrCat("{'name': 'p', ", more, "'vm_config': {", vm,
                  "'code': {'remote': {'sha256': 'nil', 'http_uri': {'uri': '", url,
                  "', 'cluster': '_', 'timeout': '5s'}}}}}");
  }
  TypedExtensionConfig Rewritten(Any resource) {
    EXPECT_TRUE(RewriteExtension(modules_, &resource).ok());
    TypedExtensionConfig config;
    EXPECT_TRUE(resource.UnpackTo(&config));
    EXPECT_EQ(config.name(), "plugin");
    return config;
  }
  template <typename Message>
  Message As(const TypedExtensionConfig& config) {
    Message out;
    EXPECT_TRUE(config.typed_config().UnpackTo(&out)) << config.typed_config().type_url();
    return out;
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/rewrite-", getpid());
  FakeRegistry registry_;
  ModuleCache modules_{Options(folder_)};
};

TEST_F(RewriteTest, AModuleElsewhereBecomesAFile) {
  const auto http = As<filters::http::wasm::v3::Wasm>(Rewritten(Extension(Remote(registry_.Url("m")))));
  EXPECT_EQ(http.config().name(), "p");
  const auto& code = http.config().vm_config().code();
  EXPECT_FALSE(code.has_remote());
  EXPECT_EQ(access(code.local().filename().c_str(), R_OK), 0) << code.local().filename();
  const auto network = As<filters::network::wasm::v3::Wasm>(
      Rewritten(Extension<filters::network::wasm::v3::Wasm>(Remote(registry_.Url("m")))));
  EXPECT_EQ(network.config().vm_config().code().local().filename(), code.local().filename());
}

TEST_F(RewriteTest, WhatIsMeantForTheAgentIsTakenOut) {
  const std::string ours =
      "'ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION': '7', 'ISTIO_META_WASM_IMAGE_PULL_POLICY': 'Always'";
  const auto environment = [&](const std::string& values, const std::string& hosts) {
    const auto filter = As<filters::http::wasm::v3::Wasm>(
        Rewritten(Extension(Remote(registry_.Url("m"), "",
                                   StrCat("'environment_variables': {'key_values': {", values,
                                          "}, 'host_env_keys': [", hosts, "]}, ")))));
    return filter.config().vm_config();
  };
  EXPECT_FALSE(environment(ours, "").has_environment_variables());
  const auto kept = environment(ours + ", 'A': '1'", "'B'").environment_variables();
  EXPECT_EQ(kept.key_values().size(), 1u);
  EXPECT_EQ(kept.key_values().at("A"), "1");
  EXPECT_EQ(kept.host_env_keys(0), "B");
}

TEST_F(RewriteTest, ThePullSecretReachesTheRegistry) {
  registry_.Want(FakeRegistry::Login::kBasic);
  const auto with = [&](const std::string& secret) {
    return Rewritten(Extension(
        Remote(registry_.Image(":1"), "",
               StrCat("'environment_variables': {'key_values': {'ISTIO_META_WASM_IMAGE_PULL_SECRET': '",
                      secret, "'}}, "))));
  };
  EXPECT_THAT(with("").typed_config().type_url(), HasSubstr("RBAC"));
  EXPECT_THAT(with("{}").typed_config().type_url(), HasSubstr("RBAC"));
  const std::string secret =
      StrCat(R"({\"auths\": {\")", registry_.host(), R"(\": {\"auth\": \"YW5uOnNlc2FtZQ==\"}}})");
  EXPECT_THAT(with(secret).typed_config().type_url(), HasSubstr("Wasm"));
}

TEST_F(RewriteTest, WithoutTheModuleTheStrategyDecides) {
  const std::string none = registry_.Url("none");
  const auto open = [&](const std::string& more) {
    const auto http = As<filters::http::rbac::v3::RBAC>(Rewritten(Extension(Remote(none, more))));
    const auto network = As<filters::network::rbac::v3::RBAC>(
        Rewritten(Extension<filters::network::wasm::v3::Wasm>(Remote(none, more))));
    EXPECT_EQ(http.has_rules(), network.has_rules());
    EXPECT_FALSE(network.stat_prefix().empty()) << "Envoy wants one";
    return !http.has_rules();
  };
  EXPECT_FALSE(open(""));
  EXPECT_FALSE(open("'failure_policy': 'FAIL_CLOSED', "));
  EXPECT_FALSE(open("'failure_policy': 'FAIL_RELOAD', "));
  EXPECT_TRUE(open("'failure_policy': 'FAIL_OPEN', "));
  EXPECT_TRUE(open("'fail_open': true, "));
  EXPECT_FALSE(open("'fail_open': true, 'failure_policy': 'FAIL_CLOSED', "));
}

TEST_F(RewriteTest, AllElseStaysAsItIs) {
  TypedExtensionConfig rbac;
  rbac.set_name("other");
  rbac.mutable_typed_config()->PackFrom(filters::http::rbac::v3::RBAC());
  Any other;
  other.PackFrom(rbac);
  for (Any resource : {other, Extension("{'vm_config': {'code': {'local': {'filename': '/m.wasm'}}}}")}) {
    const std::string before = resource.SerializeAsString();
    EXPECT_TRUE(RewriteExtension(modules_, &resource).ok());
    EXPECT_EQ(resource.SerializeAsString(), before);
  }
}

TEST_F(RewriteTest, ATypedStructIsRead) {
  udpa::type::v1::TypedStruct typed;
  typed.set_type_url("type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm");
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  ReplaceAll(StrCat("{'config': ", Remote(registry_.Url("m")), "}"), "'", "\""),
                  typed.mutable_value())
                  .ok());
  TypedExtensionConfig extension;
  extension.set_name("plugin");
  extension.mutable_typed_config()->PackFrom(typed);
  Any resource;
  resource.PackFrom(extension);
  const auto filter = As<filters::http::wasm::v3::Wasm>(Rewritten(resource));
  EXPECT_TRUE(filter.config().vm_config().code().has_local());
}

TEST_F(RewriteTest, WhatCannotBeReadIsAnError) {
  Any none;
  none.set_type_url("type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig");
  none.set_value("\xff");
  TypedExtensionConfig extension;
  extension.set_name("broken");
  extension.mutable_typed_config()->set_type_url(
      "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm");
  extension.mutable_typed_config()->set_value("\xff");
  Any broken;
  broken.PackFrom(extension);
  for (Any resource : {Any(), none, broken, Extension("{}")})
    EXPECT_TRUE(absl::IsInvalidArgument(RewriteExtension(modules_, &resource))) << resource.DebugString();
}

TEST_F(RewriteTest, ManyAreRewrittenAtOnceAndTheFirstErrorIsTold) {
  Rewriter rewriter(&modules_, 4);
  std::vector<Any> resources(20, Extension(Remote(registry_.Url("m"))));
  const auto run = [&] {
    std::promise<absl::Status> done;
    std::vector<Any*> all;
    all.reserve(resources.size());
    for (Any& one : resources) all.push_back(&one);
    rewriter.Start(all, [&](absl::Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  };
  EXPECT_TRUE(run().ok());
  resources[7] = Extension("{}");
  EXPECT_THAT(std::string(run().message()), HasSubstr("plugin has no module"));
  resources.clear();
  EXPECT_TRUE(run().ok());
}

}  // namespace
}  // namespace fairlead::wasm
