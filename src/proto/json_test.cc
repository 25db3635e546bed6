#include "proto/json.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::proto {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using testing::HasSubstr;

constexpr char kRequest[] = "envoy.service.discovery.v3.DiscoveryRequest";

TEST(Json, IsReadAsTheMessageThatItIs) {
  const auto bytes = FromJson(kRequest, R"({"node": {"id": "a", "metadata": {"x": ["y", 1]}},
      "resource_names": ["r"], "typeUrl": "t", "not_there_yet": 1})");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  DiscoveryRequest request;
  ASSERT_TRUE(request.ParseFromString(*bytes));
  EXPECT_EQ(request.node().metadata().fields().at("x").list_value().values(1).number_value(), 1);
  EXPECT_EQ(request.resource_names(0), "r");
  EXPECT_EQ(request.type_url(), "t");
}

TEST(Json, BrokenTextSaysWhy) {
  EXPECT_TRUE(absl::IsInvalidArgument(FromJson(kRequest, "{").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FromJson(kRequest, "[]").status()));
  const auto wrong = FromJson(kRequest, R"({"node": 3})");
  EXPECT_TRUE(absl::IsInvalidArgument(wrong.status()));
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("node"));
  EXPECT_FALSE(FromJson("no.such.Type", "{}").ok());
}

TEST(Json, AnysOfTypesWithoutGeneratedCodeAreExpanded) {
  google::protobuf::Any any;
  any.set_type_url(
      "type.googleapis.com/envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency");
  const std::string type = "envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency";
  const auto value = FromJson(type, R"({"enabled": {"runtimeKey": "k", "defaultValue": true}})");
  ASSERT_TRUE(value.ok()) << value.status();
  any.set_value(*value);
  envoy::config::core::v3::TypedExtensionConfig config;
  config.set_name("c");
  *config.mutable_typed_config() = any;
  const auto json = ToJson("envoy.config.core.v3.TypedExtensionConfig", config.SerializeAsString());
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, HasSubstr(R"("runtimeKey":"k")"));
  EXPECT_THAT(*json, HasSubstr("\"@type\":\"" + any.type_url()));
}

TEST(Json, AnUnknownAnyIsAnError) {
  envoy::config::core::v3::TypedExtensionConfig config;
  config.mutable_typed_config()->set_type_url("type.googleapis.com/no.such.Type");
  config.mutable_typed_config()->set_value("x");
  EXPECT_FALSE(ToJson("envoy.config.core.v3.TypedExtensionConfig", config.SerializeAsString()).ok());
}

}  // namespace
}  // namespace fairlead::proto
