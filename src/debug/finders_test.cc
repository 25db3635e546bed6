#include "debug/finders.h"

#include <gtest/gtest.h>

#include <memory>

namespace fairlead::debug {
namespace {

using model::Protocol;

model::ServicePtr MakeService(const char* host, std::vector<model::ServicePort> ports,
                              const char* address = "0.0.0.0", const char* allocated = "") {
  auto service = std::make_shared<model::Service>();
  service->registry = model::Registry::kExternal;
  service->hostname = host;
  service->ns = "shop";
  service->address = address;
  service->auto_allocated_ipv4 = allocated;
  service->ports = std::move(ports);
  return service;
}

model::ServicePort Port(uint32_t number, Protocol protocol) {
  model::ServicePort port;
  port.name = "p";
  port.port = number;
  port.protocol = protocol;
  return port;
}

std::vector<Finding> InScope(std::vector<model::ServicePtr> services, bool dns_capture = false) {
  auto imports = std::make_shared<mesh::ScopeImports>();
  imports->services = services;
  imports->egress.emplace_back();
  imports->egress[0].services = std::move(services);
  mesh::SidecarScope scope;
  scope.imports = imports;
  return FindInScope(scope, dns_capture);
}

TEST(FindInScope, TcpServicesOfOnePortNeedAddresses) {
  const auto first = MakeService("a.example.com", {Port(5432, Protocol::kTcp)}, "0.0.0.0", "240.240.0.1");
  const auto second = MakeService("b.example.com", {Port(5432, Protocol::kTcp)}, "0.0.0.0", "240.240.0.2");
  const auto found = InScope({first, second});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metric, "pilot_conflict_outbound_listener_tcp_over_current_tcp");
  EXPECT_EQ(found[0].id, "0.0.0.0:5432");
  EXPECT_EQ(found[0].message, "b.example.com is not reached: a.example.com has the port");
  EXPECT_TRUE(InScope({first, second}, true).empty()) << "the proxy's DNS tells them apart";
  EXPECT_TRUE(
      InScope({first, MakeService("b.example.com", {Port(5432, Protocol::kTcp)}, "10.0.0.1")}).empty());
  EXPECT_TRUE(InScope({first, MakeService("b.example.com", {Port(5432, Protocol::kTls)})}).empty())
      << "SNI tells them apart";
  EXPECT_TRUE(InScope({first, MakeService("b.example.com", {Port(5432, Protocol::kHttp)})}).empty());
}

TEST(FindInScope, AClusterIsThereOnce) {
  const auto service = MakeService("a.example.com", {Port(80, Protocol::kHttp), Port(80, Protocol::kUdp)});
  EXPECT_TRUE(InScope({service}).empty()) << "UDP has none";
  const auto found = InScope({service, MakeService("a.example.com", {Port(80, Protocol::kHttp)})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metric, "pilot_duplicate_envoy_clusters");
  EXPECT_EQ(found[0].id, "outbound|80||a.example.com");
}

std::vector<Finding> InTargets(Protocol first, Protocol second) {
  auto proxy = std::make_shared<model::Proxy>();
  proxy->id = "web.shop";
  auto targets = std::make_shared<std::vector<mesh::ServiceTarget>>();
  for (const auto& service :
       {MakeService("one.shop", {Port(80, first)}), MakeService("two.shop", {Port(81, second)})})
    targets->push_back({service, &service->ports[0], 8080});
  mesh::ProxyScope scope;
  scope.proxy = proxy;
  scope.targets = targets;
  return FindInTargets(scope);
}

TEST(FindInTargets, ServicesOfOnePortAgreeOnItsProtocol) {
  const auto found = InTargets(Protocol::kHttp, Protocol::kTcp);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metric, "pilot_conflict_inbound_listener");
  EXPECT_EQ(found[0].id, "web.shop");
  EXPECT_TRUE(InTargets(Protocol::kHttp, Protocol::kHttp).empty());
}

}  // namespace
}  // namespace fairlead::debug
