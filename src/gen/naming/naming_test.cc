#include <google/protobuf/struct.pb.h>
#include <gtest/gtest.h>

#include <memory>

#include "envoy/config/core/v3/base.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/metadata.h"
#include "gen/naming/stat_name.h"

namespace fairlead::gen {
namespace {

TEST(ClusterName, RoundTrip) {
  const std::string name = OutboundClusterName(80, "v1", "reviews.default.svc.cluster.local");
  EXPECT_EQ(name, "outbound|80|v1|reviews.default.svc.cluster.local");
  ParsedClusterName parsed = ParseClusterName(name);
  EXPECT_EQ(parsed.direction, Direction::kOutbound);
  EXPECT_FALSE(parsed.dns_srv);
  EXPECT_EQ(parsed.port, 80u);
  EXPECT_EQ(parsed.subset, "v1");
  EXPECT_EQ(parsed.host, "reviews.default.svc.cluster.local");

  const std::string srv = DnsSrvName(9080, "", "reviews.default.svc.cluster.local");
  EXPECT_EQ(srv, "outbound_.9080_._.reviews.default.svc.cluster.local");
  parsed = ParseClusterName(srv);
  EXPECT_TRUE(parsed.dns_srv);
  EXPECT_EQ(parsed.port, 9080u);
  EXPECT_EQ(parsed.subset, "");
  EXPECT_EQ(parsed.host, "reviews.default.svc.cluster.local");
}

TEST(ClusterName, APortOfUdpIsApartFromOneOfTcp) {
  const std::string name = UdpClusterName(53, "dns.shop.svc.cluster.local");
  EXPECT_EQ(name, "outbound_udp|53||dns.shop.svc.cluster.local");
  const ParsedClusterName parsed = ParseClusterName(name);
  EXPECT_EQ(parsed.direction, Direction::kOutbound);
  EXPECT_TRUE(parsed.udp);
  EXPECT_EQ(parsed.port, 53u);
  EXPECT_EQ(parsed.host, "dns.shop.svc.cluster.local");
  EXPECT_FALSE(ParseClusterName("outbound|53||dns.shop.svc.cluster.local").udp);
}

TEST(ClusterName, OtherNamesHaveNoDirection) {
  for (const char* name : {"BlackHoleCluster", "", "outbound|80|v1", "sideways|80||a", "outbound|80||a|b"}) {
    EXPECT_EQ(ParseClusterName(name).direction, Direction::kNone) << name;
  }
  EXPECT_EQ(ParseClusterName("inbound|8080||").direction, Direction::kInbound);
}

TEST(StatName, PatternsKnowKubernetesNames) {
  model::Service service;
  service.hostname = "reviews.shop.svc.cluster.local";
  service.name = "reviews";
  service.ns = "shop";
  model::ServicePort port;
  port.name = "http-web";
  port.port = 80;
  const char* pattern =
      "%SERVICE%_%SERVICE_NAME%_%SERVICE_PORT%_%SERVICE_PORT_NAME%_%SUBSET_NAME%_%TARGET_PORT%";
  EXPECT_EQ(FillStatPattern(pattern, service, "v1", port, 8080), "reviews.shop_reviews_80_http-web_v1_8080");
  EXPECT_EQ(FillStatPattern("%SERVICE_FQDN%", service, "", port, 0), "reviews.shop.svc.cluster.local");
  service.registry = model::Registry::kExternal;
  EXPECT_EQ(FillStatPattern("%SERVICE%:%SERVICE_NAME%", service, "", port, 0),
            "reviews.shop.svc.cluster.local:reviews.shop.svc.cluster.local");
}

TEST(Metadata, ConfigPathNamesGroupVersionAndKind) {
  const auto path = [](config::Kind kind) {
    config::ObjectMeta meta;
    meta.name = "all";
    meta.ns = "shop";
    return ConfigPath(config::ConfigObject(kind, meta, {}, nullptr, 0));
  };
  EXPECT_EQ(path(config::Kind::kDestinationRule),
            "/apis/networking.istio.io/v1/namespaces/shop/destination-rule/all");
  EXPECT_EQ(path(config::Kind::kHttpRoute),
            "/apis/gateway.networking.k8s.io/v1/namespaces/shop/http-route/all");
}

TEST(Metadata, ServicesAreListed) {
  model::Service service;
  service.hostname = "a.shop.svc.cluster.local";
  service.name = "a";
  service.ns = "shop";
  envoy::config::core::v3::Metadata metadata;
  AddServiceMetadata(service, &metadata);
  AddServiceMetadata(service, &metadata);
  const auto& list = metadata.filter_metadata().at("istio").fields().at("services").list_value();
  ASSERT_EQ(list.values_size(), 2);
  EXPECT_EQ(list.values(0).struct_value().fields().at("namespace").string_value(), "shop");
}

}  // namespace
}  // namespace fairlead::gen
