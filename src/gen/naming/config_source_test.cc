#include "gen/naming/config_source.h"

#include <gtest/gtest.h>

#include "envoy/config/core/v3/config_source.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace core = envoy::config::core::v3;
using Kind = model::ConfigSource::Kind;

core::ConfigSource Made(const model::ConfigSource& source) {
  core::ConfigSource out;
  SetConfigSource(source, &out);
  EXPECT_EQ(out.resource_api_version(), core::V3);
  return out;
}

TEST(ConfigSourceTest, OverAdsIsAsBefore) {
  core::ConfigSource ads;
  proto::SetAds(/*wait=*/false, &ads);
  EXPECT_EQ(Made({}).SerializeAsString(), ads.SerializeAsString());
}

TEST(ConfigSourceTest, OfOneTypeNamesTheCluster) {
  const core::ApiConfigSource grpc = Made({Kind::kGrpc, "xds"}).api_config_source();
  EXPECT_EQ(grpc.api_type(), core::ApiConfigSource::GRPC);
  EXPECT_EQ(grpc.transport_api_version(), core::V3);
  EXPECT_EQ(grpc.grpc_services(0).envoy_grpc().cluster_name(), "xds");
  EXPECT_EQ(Made({Kind::kDeltaGrpc, "xds"}).api_config_source().api_type(),
            core::ApiConfigSource::DELTA_GRPC);
  const core::ApiConfigSource rest = Made({Kind::kRest, "xds"}).api_config_source();
  EXPECT_EQ(rest.api_type(), core::ApiConfigSource::REST);
  EXPECT_EQ(rest.cluster_names(0), "xds");
  EXPECT_EQ(rest.refresh_delay().seconds(), 1);
}

TEST(ConfigSourceTest, TheTimeToWaitStays) {
  core::ConfigSource out;
  proto::SetAds(/*wait=*/true, &out);
  SetConfigSource({Kind::kGrpc, "xds"}, &out);
  EXPECT_TRUE(out.has_initial_fetch_timeout());
  EXPECT_FALSE(out.has_ads());
}

}  // namespace
}  // namespace fairlead::gen
