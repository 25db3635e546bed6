#include "mesh/index/merged_gateway.h"

#include <gmock/gmock.h>

#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"
#include "mesh/view/view.h"

namespace fairlead::mesh {
namespace {

using istio::networking::v1alpha3::Gateway;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class MergedGatewayTest : public MeshFixture {
 protected:
  // `servers` in protobuf text.
  void AddGateway(std::string_view ns, std::string_view name, const std::string& servers, int age = 0) {
    SelectedGateway& added = gateways_.emplace_back();
    added.object = Put(config::Kind::kGateway, ns, name, Parse<Gateway>(servers), age);
  }
  void AddTarget(uint32_t port, uint32_t target_port) {
    for (SelectedGateway& gateway : gateways_) {
      gateway.targets.push_back(
          {.hostname = "gw", .ns = "istio-system", .port = port, .target_port = target_port});
    }
  }
  MergedGateway Merge(const MergedGateway* like = nullptr) {
    return MergeGateways(gateways_, options_, like);
  }
  // "0.0.0.0_80: a/gw b/gw", for each port.
  static std::vector<std::string> Ports(const MergedGateway& merged) {
    std::vector<std::string> ports;
    for (const GatewayPort& port : *merged.ports) {
      std::string& text = ports.emplace_back(StrCat(port.bind, "_", port.number, ":"));
      for (const GatewayServerPtr& server : port.servers) StrAppend(&text, " ", server->name.str());
    }
    return ports;
  }
  static std::vector<std::string> Routes(const MergedGateway& merged) {
    std::vector<std::string> names;
    names.reserve(merged.routes.size());
    for (const auto& [name, route] : merged.routes)
      names.push_back(StrCat(name.str(), " ", route->servers.size()));
    return names;
  }

  std::vector<SelectedGateway> gateways_;
  GatewayMergeOptions options_;
};

constexpr char kHttp[] = R"(servers { port { number: 80 protocol: "HTTP" name: "http" } hosts: "*" })";
constexpr char kHttps[] =
    R"(servers { port { number: 443 protocol: "HTTPS" name: "https" } hosts: "a.com" tls { mode: SIMPLE } })";
constexpr char kTcp[] = R"(servers { port { number: 80 protocol: "TCP" name: "tcp" } hosts: "*" })";

TEST_F(MergedGatewayTest, HttpServersShareAPortAndItsRoutes) {
  AddGateway("a", "gw", kHttp);
  AddGateway("b", "gw", R"(servers { port { number: 80 protocol: "HTTP2" name: "h2" } hosts: "*" })");
  const MergedGateway merged = Merge();
  EXPECT_THAT(Ports(merged), ElementsAre("_80: a/gw b/gw"));
  EXPECT_THAT(Routes(merged), ElementsAre("http.80 2"));
}

TEST_F(MergedGatewayTest, AnotherProtocolOnThePortIsLeftOut) {
  AddGateway("a", "gw", kHttp);
  AddGateway("b", "gw", kTcp);
  AddGateway("c", "gw",
             R"(servers { port { number: 80 protocol: "HTTPS" } hosts: "*" tls { mode: SIMPLE } })");
  const MergedGateway merged = Merge();
  EXPECT_THAT(Ports(merged), ElementsAre("_80: a/gw"));
  EXPECT_THAT(*merged.names, ElementsAre("a/gw", "b/gw", "c/gw")) << "what routes to it still counts";
  EXPECT_EQ(merged.servers->size(), 3u);
}

TEST_F(MergedGatewayTest, AnotherProtocolOnAnotherAddressIsServed) {
  AddGateway("a", "gw", kHttp);
  AddGateway("b", "gw", R"(servers { port { number: 80 protocol: "TCP" } bind: "10.0.0.1" hosts: "*" })");
  EXPECT_THAT(Ports(Merge()), ElementsAre("_80: a/gw", "10.0.0.1_80: b/gw"));
}

TEST_F(MergedGatewayTest, TlsServersShareAPortByTheirHosts) {
  AddGateway("a", "gw", kHttps);
  AddGateway("b", "gw", R"(servers { port { number: 443 protocol: "HTTPS" name: "https" } hosts: "b.com"
                                     tls { mode: SIMPLE } })");
  AddGateway("c", "gw", kHttps);  // a.com is taken
  const MergedGateway merged = Merge();
  EXPECT_THAT(Ports(merged), ElementsAre("_443: a/gw b/gw"));
  EXPECT_THAT(Routes(merged), UnorderedElementsAre("https.443.https.gw.a 1", "https.443.https.gw.b 1"));
}

TEST_F(MergedGatewayTest, ServicePortsLeadToTargetPorts) {
  AddGateway("a", "gw", kHttp);
  AddTarget(80, 8080);
  EXPECT_THAT(Ports(Merge()), ElementsAre("_8080: a/gw"));
  gateways_[0].targets[0].untranslated = true;
  EXPECT_THAT(Ports(Merge()), ElementsAre("_80: a/gw"));
}

TEST_F(MergedGatewayTest, AGatewayThatNamesServicesServesOnTheirPortsAlone) {
  AddGateway("a", "gw", kHttp);
  gateways_[0].by_service = true;
  EXPECT_THAT(Ports(Merge()), IsEmpty());
  AddTarget(80, 8080);
  AddTarget(80, 9090);
  EXPECT_THAT(Ports(Merge()), ElementsAre("_8080: a/gw", "_9090: a/gw"));
}

TEST_F(MergedGatewayTest, HostsSayTheirNamespace) {
  AddGateway("a", "gw", R"(servers { port { number: 443 protocol: "TLS" } hosts: "./x.com" hosts: "*/y.com"
                                     hosts: "b/x.com" tls { mode: PASSTHROUGH } })");
  const MergedGateway merged = Merge();
  const GatewayServer& server = *merged.ports->at(0).servers.at(0);
  EXPECT_THAT(server.hosts, ElementsAre("a/x.com", "y.com", "b/x.com"));
  EXPECT_THAT(server.sni_hosts, ElementsAre("x.com", "y.com"));
  EXPECT_EQ(server.route_name, "");
}

TEST_F(MergedGatewayTest, ServersThatPassMutualTlsThroughAreKnownByTheirHosts) {
  AddGateway("a", "gw", kHttps);
  EXPECT_EQ(Merge().auto_passthrough_hosts, nullptr);
  AddGateway("b", "gw", R"(servers { port { number: 15443 protocol: "TLS" } hosts: "*.local"
                                     tls { mode: AUTO_PASSTHROUGH } })");
  EXPECT_THAT(*Merge().auto_passthrough_hosts, ElementsAre("*.local"));
}

TEST_F(MergedGatewayTest, Http3IsOfferedWhereTheServiceHasThePortForUdp) {
  AddGateway("a", "gw", kHttps);
  gateways_[0].targets = {{.hostname = "gw", .ns = "a", .port = 443, .target_port = 8443},
                          {.hostname = "gw", .ns = "a", .port = 443, .target_port = 8443, .udp = true}};
  EXPECT_THAT(Merge().ports->at(0).quic_servers, IsEmpty());
  options_.quic = true;
  EXPECT_EQ(Merge().ports->at(0).quic_servers.size(), 1u);
  EXPECT_TRUE(Merge().routes.begin()->second->http3);
  gateways_[0].targets.pop_back();
  EXPECT_FALSE(Merge().routes.begin()->second->http3);
}

TEST_F(MergedGatewayTest, AListenerOfUdpIsBesideThoseOfTcpAndBeforeHttp3) {
  options_.quic = true;
  AddGateway("a", "gw", kHttps);
  SelectedGateway& udp = gateways_.emplace_back();
  udp.object =
      Put(config::Kind::kGateway, "a", "udp",
          Parse<Gateway>(R"(servers { port { number: 443 protocol: "UDP" name: "udp" } hosts: "*" })"), 0,
          {{"internal.istio.io/gateway-semantics", "gateway"}});
  for (SelectedGateway& gateway : gateways_) {
    gateway.by_service = gateway.object == udp.object;
    gateway.targets = {{.hostname = "gw", .ns = "a", .port = 443, .target_port = 8443},
                       {.hostname = "gw", .ns = "a", .port = 443, .target_port = 9443, .udp = true}};
  }
  const MergedGateway merged = Merge();
  EXPECT_THAT(Ports(merged), ElementsAre("_8443: a/gw", "_9443: a/udp"));
  EXPECT_FALSE(merged.ports->at(0).udp());
  EXPECT_TRUE(merged.ports->at(1).udp());
  EXPECT_EQ(merged.ports->at(0).quic_servers.size(), 1u) << "on a port of its own";
  for (SelectedGateway& gateway : gateways_) gateway.targets[1].target_port = 8443;
  EXPECT_THAT(Ports(Merge()), ElementsAre("_8443: a/gw", "_8443: a/udp"));
  EXPECT_THAT(Merge().ports->at(0).quic_servers, IsEmpty());
  EXPECT_FALSE(Merge().routes.begin()->second->http3);
}

TEST_F(MergedGatewayTest, PartsThatStayKeepTheirPointers) {
  AddGateway("a", "gw", kHttp);
  AddGateway("b", "gw", kHttps);
  const MergedGateway before = Merge();
  AddGateway("c", "gw", R"(servers { port { number: 80 protocol: "HTTP" } hosts: "*" })");
  const MergedGateway after = Merge(&before);
  EXPECT_NE(after.ports, before.ports);
  EXPECT_NE(after.routes.at("http.80"), before.routes.at("http.80"));
  EXPECT_EQ(after.routes.at("https.443.https.gw.b"), before.routes.at("https.443.https.gw.b"));
  EXPECT_EQ(Merge(&after).ports, after.ports);
}

// A router in a mesh.
class RouterTest : public MeshFixture {
 protected:
  ProxyScopePtr Scope(LabelMap labels = {{"istio", "ingress"}}, const ProxyScopePtr& previous = nullptr) {
    snapshot_ = Build();
    if (proxy_ == nullptr || proxy_->metadata.labels != labels) {
      auto proxy = std::make_shared<model::Proxy>(*MakeProxy("istio-system", "gw", "10.0.0.1"));
      proxy->type = model::ProxyType::kRouter;
      proxy->metadata.labels = std::move(labels);
      proxy->proxy_class = model::ClassOf(*proxy);
      proxy_ = proxy;
    }
    return ComputeProxyScope(*snapshot_, proxy_, previous);
  }
  void AddGateway(std::string_view ns, const std::string& text) {
    Put(config::Kind::kGateway, ns, "gw", Parse<Gateway>(text));
  }
  static std::vector<Interned> NamesOf(const ProxyScopePtr& scope) { return *scope->gateways->names; }

  SnapshotPtr snapshot_;
  model::ProxyPtr proxy_;
};

TEST_F(RouterTest, IsSelectedByItsLabels) {
  AddGateway("a", StrCat(R"(selector { key: "istio" value: "ingress" } )", kHttp));
  AddGateway("b", StrCat(R"(selector { key: "istio" value: "egress" } )", kHttp));
  AddGateway("c", kHttp);
  EXPECT_THAT(NamesOf(Scope()), ElementsAre("a/gw", "c/gw"));
  EXPECT_THAT(NamesOf(Scope({{"istio", "egress"}})), ElementsAre("b/gw", "c/gw"));
  settings_.gateways.own_namespace_only = true;
  SetSettings();
  EXPECT_THAT(NamesOf(Scope()), IsEmpty());
}

TEST_F(RouterTest, WhatOtherRoutersServeLeavesItsScopeAlone) {
  AddGateway("a", StrCat(R"(selector { key: "istio" value: "ingress" } )", kHttp));
  const ProxyScopePtr before = Scope();
  AddService("default", "web", {80});
  AddGateway("b", StrCat(R"(selector { key: "istio" value: "egress" } )", kHttp));
  EXPECT_EQ(Scope({{"istio", "ingress"}}, before)->gateways, before->gateways);
  AddGateway("c", kHttp);
  EXPECT_NE(Scope({{"istio", "ingress"}}, before)->gateways, before->gateways);
}

TEST_F(RouterTest, OfAGatewayApiGatewayIsClosedToOtherNamespaces) {
  AddGateway("other", kHttp);
  auto service = AddService("istio-system", "gw", {80}, {{"istio", "ingress"}});
  AddPod("istio-system", "gw", "10.0.0.1", {{"istio", "ingress"}});
  Put(config::Kind::kGateway, "istio-system", "derived", Parse<Gateway>(kHttp), 0,
      {{"internal.istio.io/gateway-service", "gw.istio-system.svc.cluster.local"},
       {"internal.istio.io/gateway-semantics", "gateway"},
       {"internal.istio.io/service-account-name", "gw"}});
  EXPECT_THAT(NamesOf(Scope()), ElementsAre("istio-system/derived"));
  settings_.gateways.strict_merging = false;
  SetSettings();
  EXPECT_THAT(NamesOf(Scope()), ElementsAre("istio-system/derived", "other/gw"));
}

}  // namespace
}  // namespace fairlead::mesh
