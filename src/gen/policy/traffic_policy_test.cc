#include "gen/policy/traffic_policy.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"

namespace fairlead::gen {
namespace {

api::DestinationRule Rule(const std::string& text) {
  api::DestinationRule rule;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &rule)) << text;
  return rule;
}

TEST(PolicyForPort, PortSettingsInheritNothing) {
  const auto rule = Rule(R"(traffic_policy {
    connection_pool { tcp { max_connections: 1 } }
    tls { mode: SIMPLE }
    retry_budget { min_retry_concurrency: 5 }
    port_level_settings { port { number: 81 } load_balancer { simple: RANDOM } } })");
  const EffectivePolicy whole = PolicyForPort(PolicyOf(&rule), 80);
  EXPECT_EQ(whole.connection_pool->tcp().max_connections(), 1);
  EXPECT_NE(whole.tls, nullptr);
  EXPECT_NE(whole.retry_budget, nullptr);
  const EffectivePolicy port = PolicyForPort(PolicyOf(&rule), 81);
  EXPECT_EQ(port.load_balancer->simple(), api::LoadBalancerSettings::RANDOM);
  EXPECT_EQ(port.connection_pool, nullptr);
  EXPECT_EQ(port.tls, nullptr);
  EXPECT_EQ(port.retry_budget, nullptr);
}

TEST(PolicyForPort, NoPolicySaysNothing) {
  EXPECT_EQ(PolicyForPort(nullptr, 80).tls, nullptr);
  EXPECT_EQ(PolicyOf(static_cast<const api::DestinationRule*>(nullptr)), nullptr);
}

TEST(PolicyForSubset, OverridesPartByPart) {
  const auto rule = Rule(R"(traffic_policy {
      connection_pool { tcp { max_connections: 1 } } tls { mode: SIMPLE } proxy_protocol { version: V2 } }
    subsets { name: "v1" traffic_policy { tls { mode: DISABLE } } }
    subsets { name: "v2" traffic_policy {
      port_level_settings { port { number: 80 } load_balancer { simple: RANDOM } } } })");
  const EffectivePolicy base = PolicyForPort(PolicyOf(&rule), 80);
  const EffectivePolicy v1 = PolicyForSubset(base, PolicyOf(FindSubset(&rule, "v1")), 80);
  EXPECT_EQ(v1.tls->mode(), api::ClientTLSSettings::DISABLE);
  EXPECT_EQ(v1.connection_pool, base.connection_pool);
  // A subset's port settings replace all four parts that a port may have, and leave the others.
  const EffectivePolicy v2 = PolicyForSubset(base, PolicyOf(FindSubset(&rule, "v2")), 80);
  EXPECT_EQ(v2.tls, nullptr);
  EXPECT_EQ(v2.connection_pool, nullptr);
  EXPECT_NE(v2.proxy_protocol, nullptr);
  const EffectivePolicy other_port = PolicyForSubset(base, PolicyOf(FindSubset(&rule, "v2")), 81);
  EXPECT_EQ(other_port.tls, base.tls);
}

TEST(AddMeshDefaults, FillsWhatTheRuleLeavesOut) {
  istio::mesh::v1alpha1::MeshConfig mesh;
  mesh.mutable_default_traffic_policy()->mutable_connection_pool()->mutable_tcp()->set_max_connections(7);
  mesh.mutable_default_traffic_policy()->mutable_outlier_detection();
  const auto rule = Rule("traffic_policy { connection_pool { tcp { max_connections: 1 } } }");
  EffectivePolicy policy = PolicyForPort(PolicyOf(&rule), 80);
  AddMeshDefaults(mesh, &policy);
  EXPECT_EQ(policy.connection_pool->tcp().max_connections(), 1);
  EXPECT_NE(policy.outlier_detection, nullptr);
}

}  // namespace
}  // namespace fairlead::gen
