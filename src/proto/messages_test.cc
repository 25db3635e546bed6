#include "proto/messages.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "envoy/config/core/v3/address.pb.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "proto/wire.h"
#include "udpa/type/v1/typed_struct.pb.h"

namespace fairlead::proto {
namespace {

namespace core = envoy::config::core::v3;
using SdsSecretConfig = envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig;

google::protobuf::Struct Numbered(bool forward) {
  google::protobuf::Struct s;
  for (int i = 0; i < 100; ++i) SetString(StrCat("key", forward ? i : 99 - i), "v", &s);
  return s;
}

TEST(Pack, BytesDoNotDependOnInsertionOrder) {
  EXPECT_EQ(DeterministicBytes(Numbered(true)), DeterministicBytes(Numbered(false)));
  const auto any = Packed(Numbered(true));
  EXPECT_EQ(any.type_url(), "type.googleapis.com/google.protobuf.Struct");
  google::protobuf::Struct back;
  ASSERT_TRUE(any.UnpackTo(&back));
  EXPECT_EQ(back.fields_size(), 100);
}

TEST(Pack, AMessageIsAppendedAsAField) {
  std::string bytes = "before", expected = bytes;
  AppendField(7, DeterministicBytes(Numbered(false)), &expected);
  AppendMessage(7, Numbered(true), &bytes);
  EXPECT_EQ(bytes, expected);
}

TEST(Pack, TypedStructCarriesTheForeignType) {
  google::protobuf::Struct value;
  SetBool("enable_discovery", true, &value);
  google::protobuf::Any any;
  PackTypedStruct("type.googleapis.com/foreign.Type", value, &any);
  udpa::type::v1::TypedStruct typed;
  ASSERT_TRUE(any.UnpackTo(&typed));
  EXPECT_EQ(typed.type_url(), "type.googleapis.com/foreign.Type");
  EXPECT_TRUE(typed.value().fields().at("enable_discovery").bool_value());
}

TEST(SetAddress, PortZeroIsAUnixSocket) {
  core::Address address;
  SetAddress("10.0.0.1", 80, &address);
  EXPECT_EQ(address.socket_address().port_value(), 80u);
  SetAddress("unix:///var/run/app.sock", 0, &address);
  EXPECT_EQ(address.pipe().path(), "/var/run/app.sock");
}

TEST(SetCredentialSecret, SchemesDecideWhoServesIt) {
  const auto named = [](std::string_view credential, bool socket) {
    SdsSecretConfig config;
    SetCredentialSecret(credential, socket, &config);
    return config;
  };
  EXPECT_EQ(named("shop-tls", false).name(), "kubernetes://shop-tls");
  EXPECT_TRUE(named("shop-tls", false).sds_config().has_ads());
  EXPECT_FALSE(named("shop-tls", false).sds_config().has_initial_fetch_timeout());
  EXPECT_EQ(named("configmap://ns/ca", false).name(), "configmap://ns/ca");
  EXPECT_EQ(named("sds://mine", false).name(), "kubernetes://mine");
  const SdsSecretConfig socket = named("sds://mine", true);
  EXPECT_EQ(socket.name(), "sds://mine");
  EXPECT_EQ(socket.sds_config().api_config_source().grpc_services(0).envoy_grpc().cluster_name(),
            "sds-external");
  const SdsSecretConfig builtin = named("builtin://", false);
  EXPECT_EQ(builtin.name(), "default");
  EXPECT_TRUE(builtin.sds_config().has_initial_fetch_timeout());
}

}  // namespace
}  // namespace fairlead::proto
