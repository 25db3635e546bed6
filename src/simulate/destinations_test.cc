#include "simulate/destinations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "simulate/text_proto.h"

namespace fairlead::simulate {
namespace {

using envoy::config::cluster::v3::Cluster;
using testing::ElementsAre;
using testing::IsEmpty;

// A priority's endpoints in text: "hhu" are two healthy ones and an unhealthy one, 10.0.PRIORITY.1 and so on.
ProxyResources WithPriorities(const std::vector<std::string>& priorities, const std::string& cluster = "") {
  ProxyResources resources;
  auto& made = resources.clusters["c"];
  made = FromText<Cluster>("name: 'c' type: STATIC " + cluster);
  for (size_t priority = 0; priority < priorities.size(); ++priority) {
    auto* group = made.mutable_load_assignment()->add_endpoints();
    group->set_priority(static_cast<uint32_t>(priority));
    int last = 0;
    for (char health : priorities[priority]) {
      auto* endpoint = group->add_lb_endpoints();
      endpoint->set_health_status(health == 'h' ? envoy::config::core::v3::HEALTHY
                                                : envoy::config::core::v3::UNHEALTHY);
      auto* address = endpoint->mutable_endpoint()->mutable_address()->mutable_socket_address();
      address->set_address(StrCat("10.0.", priority, ".", ++last));
      address->set_port_value(80);
    }
  }
  return resources;
}

std::vector<std::string> Addresses(const ProxyResources& resources) {
  std::vector<std::string> out;
  for (const Candidate& one : DestinationOf(resources, "c", SimulatedRequest()).candidates)
    out.push_back(one.address);
  return out;
}

TEST(Destination, TheFirstPriorityTakesAllWhileItCan) {
  EXPECT_THAT(Addresses(WithPriorities({"hhh", "h"})),
              ElementsAre("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"));
  // Three of four healthy, times 1.4, is more than all.
  EXPECT_THAT(Addresses(WithPriorities({"hhhu", "h"})),
              ElementsAre("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"));
}

TEST(Destination, WhatAPriorityCannotTakeGoesToTheNext) {
  EXPECT_THAT(Addresses(WithPriorities({"hu", "h"})), ElementsAre("10.0.0.1:80", "10.0.1.1:80"));
  EXPECT_THAT(Addresses(WithPriorities({"uu", "h"})), ElementsAre("10.0.1.1:80"));
  EXPECT_THAT(Addresses(WithPriorities({"", "h"})), ElementsAre("10.0.1.1:80"));
}

TEST(Destination, PanicsWhereTooFewAreHealthy) {
  EXPECT_THAT(Addresses(WithPriorities({"huuu"})),
              ElementsAre("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"));
  EXPECT_THAT(Addresses(WithPriorities({"uu"})), ElementsAre("10.0.0.1:80", "10.0.0.2:80"));
  const std::string never = "common_lb_config { healthy_panic_threshold { value: 0 } }";
  EXPECT_THAT(Addresses(WithPriorities({"huuu"}, never)), ElementsAre("10.0.0.1:80"));
  EXPECT_THAT(Addresses(WithPriorities({"uu"}, never)), IsEmpty());
}

TEST(Destination, NobodyThere) {
  EXPECT_EQ(DestinationOf(WithPriorities({}), "c", SimulatedRequest()).problem, "no endpoint of c");
  const Destination unknown = DestinationOf({}, "c", SimulatedRequest());
  EXPECT_EQ(unknown.problem, "no cluster c");
  EXPECT_TRUE(IsUnknownCluster(unknown));
}

TEST(Destination, OriginalDestination) {
  ProxyResources resources;
  resources.clusters["c"] = FromText<Cluster>("name: 'c' type: ORIGINAL_DST");
  SimulatedRequest request;
  request.destination_address = "2001:db8::1";
  request.destination_port = 81;
  EXPECT_EQ(DestinationOf(resources, "c", request).candidates.front().address, "[2001:db8::1]:81");
  resources.clusters["c"].mutable_original_dst_lb_config()->mutable_upstream_port_override()->set_value(90);
  EXPECT_EQ(DestinationOf(resources, "c", request).candidates.front().address, "[2001:db8::1]:90");
}

TEST(Destination, TransportByEndpointMetadata) {
  auto resources = WithPriorities({"hh"}, R"(
    transport_socket_matches {
      name: "mtls"
      match { fields { key: "tlsMode" value { string_value: "istio" } } }
      transport_socket { typed_config {
        [type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext] {
          sni: "s" common_tls_context { tls_certificate_sds_secret_configs { name: "default" } } } } } }
    transport_socket_matches { name: "plain" match {} })");
  auto* first =
      resources.clusters["c"].mutable_load_assignment()->mutable_endpoints(0)->mutable_lb_endpoints(0);
  auto& metadata = (*first->mutable_metadata()->mutable_filter_metadata())["envoy.transport_socket_match"];
  (*metadata.mutable_fields())["tlsMode"].set_string_value("istio");
  const Destination destination = DestinationOf(resources, "c", SimulatedRequest());
  EXPECT_EQ(ToText(destination.candidates[0].transport), "mutual TLS (SNI s)");
  EXPECT_EQ(ToText(destination.candidates[1].transport), "plaintext");
}

}  // namespace
}  // namespace fairlead::simulate
