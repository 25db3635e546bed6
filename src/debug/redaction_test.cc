#include "debug/redaction.h"

#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/extensions/filters/network/wasm/v3/wasm.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"

namespace fairlead::debug {
namespace {

namespace filters = envoy::extensions::filters;

template <typename Message>
std::string Packed(const Message& message) {
  google::protobuf::Any any;
  any.PackFrom(message);
  return any.SerializeAsString();
}

template <typename Wasm>
std::string Plugin(const std::string& credentials) {
  Wasm filter;
  auto& values =
      *filter.mutable_config()->mutable_vm_config()->mutable_environment_variables()->mutable_key_values();
  values["A"] = "shown";
  if (!credentials.empty()) values["ISTIO_META_WASM_IMAGE_PULL_SECRET"] = credentials;
  envoy::config::core::v3::TypedExtensionConfig config;
  config.set_name("plugin");
  config.mutable_typed_config()->PackFrom(filter);
  return Packed(config);
}

TEST(Redacted, PrivateKeysAreNotShown) {
  envoy::extensions::transport_sockets::tls::v3::Secret secret;
  secret.mutable_tls_certificate()->mutable_certificate_chain()->set_inline_bytes("chain");
  secret.mutable_tls_certificate()->mutable_private_key()->set_inline_bytes("key of mine");
  const std::string shown = Redacted(xds::TypeId::kSecret, Packed(secret));
  EXPECT_NE(shown.find("chain"), std::string::npos);
  EXPECT_EQ(shown.find("key of mine"), std::string::npos);
  EXPECT_EQ(Redacted(xds::TypeId::kSecret, "no secret"), "");
}

TEST(Redacted, CredentialsOfWasmImagesAreNotShown) {
  for (const std::string& plugin : {Plugin<filters::http::wasm::v3::Wasm>("of a registry"),
                                    Plugin<filters::network::wasm::v3::Wasm>("of a registry")}) {
    const std::string shown = Redacted(xds::TypeId::kExtension, plugin);
    EXPECT_EQ(shown.find("of a registry"), std::string::npos);
    EXPECT_NE(shown.find("shown"), std::string::npos);
  }
}

TEST(Redacted, AllElseIsAsItIs) {
  const std::string plugin = Plugin<filters::http::wasm::v3::Wasm>("");
  EXPECT_EQ(Redacted(xds::TypeId::kExtension, plugin), plugin);
  EXPECT_EQ(Redacted(xds::TypeId::kExtension, "anything"), "anything");
  EXPECT_EQ(Redacted(xds::TypeId::kCluster, "anything"), "anything");
}

}  // namespace
}  // namespace fairlead::debug
