#include "simulate/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/extensions/filters/listener/http_inspector/v3/http_inspector.pb.h"
#include "simulate/text_proto.h"

namespace fairlead::simulate {
namespace {

using envoy::config::listener::v3::Listener;

SimulatedConnection To(const char* ip, uint32_t port) {
  SimulatedRequest request;
  request.source_address = "10.0.0.9";
  request.destination_address = ip;
  request.destination_port = port;
  return *ConnectionOf(request);
}

std::string Chosen(const Listener& listener, const SimulatedConnection& connection) {
  const auto* chain = ChooseFilterChain(listener, connection);
  return chain == nullptr ? "none" : chain->name();
}

std::string Served(const Listeners& listeners, const SimulatedConnection& connection,
                   CallDirection direction = CallDirection::kOutbound) {
  const ChosenListener chosen = ChooseListener(listeners, direction, connection);
  return chosen.served_by == nullptr ? "none" : chosen.served_by->name();
}

Listener ListenerAt(const std::string& name, const std::string& ip, int port, const std::string& more) {
  return FromText<Listener>("name: '" + name + "' address { socket_address { address: '" + ip +
                            "' port_value: " + std::to_string(port) + " } } " + more);
}

TEST(ChooseListener, ExactAddressBeforeWildcardBeforeTheCatchAll) {
  const std::string behind = "traffic_direction: OUTBOUND bind_to_port { value: false }";
  const Listeners listeners = {
      ListenerAt("catch", "0.0.0.0", 15001, "traffic_direction: OUTBOUND use_original_dst { value: true }"),
      ListenerAt("any", "0.0.0.0", 80, behind), ListenerAt("one", "10.0.0.1", 80, behind)};
  EXPECT_EQ(Served(listeners, To("10.0.0.1", 80)), "one");
  EXPECT_EQ(Served(listeners, To("10.0.0.2", 80)), "any");
  EXPECT_EQ(Served(listeners, To("10.0.0.1", 81)), "catch");
  EXPECT_EQ(Served(listeners, To("2001:db8::1", 80)), "none");  // nobody listens to IPv6
  EXPECT_EQ(Served(listeners, To("10.0.0.1", 80), CallDirection::kInbound), "none");
}

TEST(ChooseListener, AdditionalAddressesCount) {
  const Listeners listeners = {
      ListenerAt("catch", "0.0.0.0", 15001,
                 "traffic_direction: OUTBOUND use_original_dst { value: true } "
                 "additional_addresses { address { socket_address { address: '::' port_value: 15001 } } }"),
      ListenerAt(
          "service", "10.0.0.1", 80,
          "traffic_direction: OUTBOUND bind_to_port { value: false } "
          "additional_addresses { address { socket_address { address: '2001:db8::1' port_value: 80 } } }")};
  EXPECT_EQ(Served(listeners, To("10.0.0.1", 80)), "service");
  EXPECT_EQ(Served(listeners, To("2001:db8::1", 80)), "service");
  EXPECT_EQ(Served(listeners, To("2001:db8::2", 80)), "catch");
}

TEST(ChooseListener, WithoutRedirectionOnlyBoundListenersAccept) {
  const Listeners listeners = {
      ListenerAt("bound", "127.0.0.1", 80, "traffic_direction: OUTBOUND"),
      ListenerAt("hidden", "127.0.0.1", 81, "traffic_direction: OUTBOUND bind_to_port { value: false }")};
  EXPECT_EQ(Served(listeners, To("127.0.0.1", 80)), "bound");
  EXPECT_EQ(Served(listeners, To("127.0.0.1", 81)), "none");
}

// "There is an entry for the port, but none of its chains matches": the default chain, not a chain without
// port.
TEST(ChooseFilterChain, DoesNotComeBackFromAMoreSpecificPort) {
  const auto listener = FromText<Listener>(R"(
    filter_chains { name: "tls on 80" filter_chain_match { destination_port { value: 80 } transport_protocol: "tls" } }
    filter_chains { name: "all" filter_chain_match { transport_protocol: "raw_buffer" } }
    default_filter_chain { name: "default" })");
  SimulatedConnection connection = To("10.0.0.1", 80);
  EXPECT_EQ(Chosen(listener, connection), "default");
  connection.destination_port = 81;
  EXPECT_EQ(Chosen(listener, connection), "all");
  connection.destination_port = 80;
  connection.transport_protocol = "tls";
  EXPECT_EQ(Chosen(listener, connection), "tls on 80");
}

TEST(ChooseFilterChain, LongestPrefixThenServerName) {
  const auto listener = FromText<Listener>(R"(
    filter_chains { name: "wide" filter_chain_match { prefix_ranges { address_prefix: "10.0.0.0" prefix_len { value: 8 } } } }
    filter_chains { name: "narrow" filter_chain_match {
      prefix_ranges { address_prefix: "10.1.0.0" prefix_len { value: 16 } } server_names: "a.example.com" } })");
  SimulatedConnection connection = To("10.1.2.3", 80);
  EXPECT_EQ(Chosen(listener, connection), "none");  // within the longest prefix only
  connection.server_name = "a.example.com";
  EXPECT_EQ(Chosen(listener, connection), "narrow");
  EXPECT_EQ(Chosen(listener, To("10.2.2.3", 80)), "wide");
  EXPECT_EQ(Chosen(listener, To("11.2.2.3", 80)), "none");
}

TEST(ChooseFilterChain, ServerNames) {
  const auto listener = FromText<Listener>(R"(
    filter_chains { name: "exact" filter_chain_match { server_names: "a.b.example.com" } }
    filter_chains { name: "long" filter_chain_match { server_names: "*.b.example.com" } }
    filter_chains { name: "short" filter_chain_match { server_names: "*.example.com" } }
    filter_chains { name: "any" })");
  SimulatedConnection connection = To("10.1.2.3", 443);
  for (const auto& [name, chain] :
       {std::pair("a.b.example.com", "exact"), std::pair("x.b.example.com", "long"),
        std::pair("b.example.com", "short"), std::pair("x.y.example.com", "short"),
        std::pair("example.com", "any"), std::pair("", "any")}) {
    connection.server_name = name;
    EXPECT_EQ(Chosen(listener, connection), chain) << name;
  }
}

TEST(ChooseFilterChain, TheFirstProtocolOfferedCounts) {
  const auto listener = FromText<Listener>(R"(
    filter_chains { name: "http" filter_chain_match { application_protocols: ["istio-http/1.1", "istio-h2"] } }
    filter_chains { name: "tcp" filter_chain_match { application_protocols: ["istio", "istio-peer-exchange"] } })");
  SimulatedConnection connection = To("10.1.2.3", 80);
  connection.application_protocols = {"istio-peer-exchange", "istio-h2"};
  EXPECT_EQ(Chosen(listener, connection), "tcp");
  connection.application_protocols = {"unknown", "istio-h2", "istio"};
  EXPECT_EQ(Chosen(listener, connection), "http");
  connection.application_protocols = {};
  EXPECT_EQ(Chosen(listener, connection), "none");
}

TEST(ChooseFilterChain, Sources) {
  const auto listener = FromText<Listener>(R"(
    filter_chains { name: "local" filter_chain_match { source_type: SAME_IP_OR_LOOPBACK } }
    filter_chains { name: "near" filter_chain_match {
      source_prefix_ranges { address_prefix: "10.0.0.0" prefix_len { value: 8 } } source_ports: 7 } }
    filter_chains { name: "far" })");
  SimulatedConnection connection = To("10.1.2.3", 80);
  connection.source_port = 7;
  EXPECT_EQ(Chosen(listener, connection), "near");
  connection.source_port = 8;
  EXPECT_EQ(Chosen(listener, connection), "none");
  connection.source = *IpAddress::Parse("11.0.0.1");
  EXPECT_EQ(Chosen(listener, connection), "far");
  connection.source = *IpAddress::Parse("127.0.0.6");
  EXPECT_EQ(Chosen(listener, connection), "local");
}

TEST(Inspect, AFilterMayBeDisabledForPorts) {
  auto listener = FromText<Listener>(R"(
    listener_filters {
      name: "http"
      filter_disabled { or_match {
        rules { destination_port_range { start: 80 end: 81 } }
        rules { not_match { destination_port_range { start: 70 end: 90 } } } } }
    })");
  listener.mutable_listener_filters(0)->mutable_typed_config()->PackFrom(
      envoy::extensions::filters::listener::http_inspector::v3::HttpInspector());
  SimulatedRequest request;
  for (const auto& [port, seen] : {std::pair(80, false), std::pair(81, true), std::pair(90, false)}) {
    SimulatedConnection connection = To("10.0.0.1", static_cast<uint32_t>(port));
    Inspect(listener, request, &connection);
    EXPECT_EQ(!connection.application_protocols.empty(), seen) << port;
  }
}

TEST(Inspect, WithoutInspectorsNothingIsKnown) {
  SimulatedRequest request;
  request.tls = Tls{"a.example.com", {"h2"}, false};
  SimulatedConnection connection = To("10.0.0.1", 443);
  Inspect(Listener(), request, &connection);
  EXPECT_EQ(connection.transport_protocol, "raw_buffer");
  EXPECT_EQ(connection.server_name, "");
}

}  // namespace
}  // namespace fairlead::simulate
