#include "mesh/merged_gateway.h"

#include <gmock/gmock.h>

#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class MergedGatewayTest : public MeshFixture {
 protected:
  config::ConfigPtr PutGateway(std::string_view ns, std::string_view name, const std::string& text,
                               int age = 0, LabelMap annotations = {}) {
    using istio::networking::v1alpha3::Gateway;
    return Put(config::Kind::kGateway, ns, name, Parse<Gateway>(text), age, std::move(annotations));
  }
  // A router of namespace "gw" with label istio=ingress and a service for ports 80 -> 8080 and 443 -> 8443.
  MergedGatewayPtr Merged() {
    if (registry_.workloads.empty()) {
      const auto service = AddService("gw", "ingress", {80, 443}, {{"istio", "ingress"}});
      auto& spec = const_cast<config::ServiceSpec&>(service->source->Spec<config::ServiceSpec>());
      spec.ports[0].target_port.number = 8080;
      spec.ports[1].target_port.number = 8443;
      AddPod("gw", "ingress-1", "10.0.0.1", {{"istio", "ingress"}});
      auto proxy = std::make_shared<model::Proxy>(*MakeProxy("gw", "ingress-1", "10.0.0.1"));
      proxy->type = model::ProxyType::kRouter;
      router_ = proxy;
    }
    return ComputeProxyScope(*Build(), router_)->gateway;
  }
  // "number protocol bind: host host" of each port.
  static std::vector<std::string> Ports(const MergedGateway& merged) {
    std::vector<std::string> texts;
    for (const GatewayPort& port : merged.ports) {
      std::string& text = texts.emplace_back(StrCat(port.number, " ", port.protocol, " ", port.bind, ":"));
      for (const GatewayServerPtr& server : port.servers)
        StrAppend(&text, " ", Join(server->spec->hosts(), ","));
    }
    return texts;
  }
  static std::vector<std::string> Routes(const MergedGateway& merged) {
    std::vector<std::string> texts;
    for (const auto& [route, servers] : merged.servers_by_route)
      texts.push_back(StrCat(route, " ", servers.size()));
    return texts;
  }

  model::ProxyPtr router_;
};

TEST_F(MergedGatewayTest, SelectsByLabels) {
  EXPECT_EQ(Merged(), nullptr);
  PutGateway("a", "other", R"(selector { key: "istio" value: "egress" }
      servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "other.com" })");
  EXPECT_EQ(Merged(), nullptr);
  PutGateway("a", "mine", R"(selector { key: "istio" value: "ingress" }
      servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" })");
  EXPECT_THAT(Ports(*Merged()), ElementsAre("8080 HTTP : x.com"));
  PutGateway("b", "open-to-all", R"(servers { port { number: 9000 protocol: "TCP" name: "t" } hosts: "*" })");
  EXPECT_THAT(Ports(*Merged()), ElementsAre("8080 HTTP : x.com", "9000 TCP : *"))
      << "a port that no service has is taken as it is";
}

TEST_F(MergedGatewayTest, OldestGatewayFirst) {
  PutGateway("a", "young", R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "young.com" })",
             1);
  PutGateway("a", "old", R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "old.com" })", 2);
  const MergedGatewayPtr merged = Merged();
  EXPECT_THAT(Ports(*merged), ElementsAre("8080 HTTP : old.com young.com"));
  EXPECT_THAT(Routes(*merged), ElementsAre("http.8080 2"));
  EXPECT_EQ(merged->ports[0].route_name, "http.8080");
  EXPECT_EQ(merged->ports[0].servers[0]->gateway_name, "a/old");
  EXPECT_THAT(merged->gateway_ports, ElementsAre(Pair(8080, ElementsAre(80))));
}

TEST_F(MergedGatewayTest, HttpProtocolsShareAPortAndOthersDoNot) {
  PutGateway("a", "g", R"(
      servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" }
      servers { port { number: 80 protocol: "GRPC" name: "g" } hosts: "y.com" }
      servers { port { number: 80 protocol: "TCP" name: "t" } hosts: "z.com" }
      servers { port { number: 80 protocol: "TCP" name: "b" } hosts: "z.com" bind: "10.0.0.9" })");
  const MergedGatewayPtr merged = Merged();
  EXPECT_THAT(Ports(*merged), ElementsAre("8080 HTTP : x.com y.com", "8080 TCP 10.0.0.9: z.com"));
  ASSERT_THAT(merged->problems, SizeIs(1));
  EXPECT_EQ(merged->problems[0].code, "server-conflict");
}

TEST_F(MergedGatewayTest, TlsServersShareAPortByServerName) {
  PutGateway("a", "g", R"(
      servers { port { number: 443 protocol: "HTTPS" name: "one" } hosts: "x.com" tls { mode: SIMPLE } }
      servers { port { number: 443 protocol: "HTTPS" name: "two" } hosts: "./y.com" hosts: "*/w.com" tls { mode: SIMPLE } }
      servers { port { number: 443 protocol: "HTTPS" name: "one" } hosts: "same-name.com" tls { mode: SIMPLE } }
      servers { port { number: 443 protocol: "HTTPS" name: "same-host" } hosts: "x.com" tls { mode: SIMPLE } }
      servers { port { number: 443 protocol: "TLS" name: "pass" } hosts: "p.com" tls { mode: PASSTHROUGH } })");
  const MergedGatewayPtr merged = Merged();
  EXPECT_THAT(Ports(*merged), ElementsAre("8443 HTTPS : x.com a/y.com,w.com", "8443 TLS : p.com"));
  EXPECT_THAT(Routes(*merged), ElementsAre("https.443.one.g.a 1", "https.443.two.g.a 1"));
  EXPECT_THAT(merged->ports[0].servers[1]->sni_hosts, ElementsAre("w.com", "y.com"));
  EXPECT_EQ(merged->ports[1].servers[0]->route_name, "");
  EXPECT_THAT(merged->gateway_ports, ElementsAre(Pair(443, ElementsAre(443))));
  EXPECT_THAT(merged->problems, SizeIs(2));
}

TEST_F(MergedGatewayTest, AllNamespacesAndHostsIsOneHost) {
  PutGateway("a", "g",
             R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" hosts: "*/*" })");
  EXPECT_THAT(Ports(*Merged()), ElementsAre("8080 HTTP : *"));
}

TEST_F(MergedGatewayTest, CollectsAutoPassthroughHosts) {
  PutGateway("a", "g", R"(
      servers { port { number: 15443 protocol: "TLS" name: "t" } hosts: "*.local" tls { mode: AUTO_PASSTHROUGH } })");
  const MergedGatewayPtr merged = Merged();
  EXPECT_TRUE(merged->auto_passthrough);
  EXPECT_THAT(merged->auto_passthrough_hosts, ElementsAre("*.local"));
}

TEST_F(MergedGatewayTest, ServicesMayRefuseTranslation) {
  PutGateway("a", "g", R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" })");
  Merged();
  const model::ServicePtr service = services_[0];
  auto labelled = std::make_shared<model::Service>(*service);
  labelled->labels = {{"experimental.istio.io/disable-gateway-port-translation", "true"}};
  ReplaceService(service, labelled);
  EXPECT_THAT(Ports(*Merged()), ElementsAre("80 HTTP : x.com"));
}

TEST_F(MergedGatewayTest, GatewayApiObjectsNameTheirServices) {
  const std::string server = R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" }
                                servers { port { number: 81 protocol: "HTTP" name: "none" } hosts: "x.com" })";
  PutGateway(
      "gw", "named", server, 0,
      {{"internal.istio.io/gateway-service", "other.gw.svc.cluster.local,ingress.gw.svc.cluster.local"}});
  EXPECT_THAT(Ports(*Merged()), ElementsAre("8080 HTTP : x.com"))
      << "a port that the service lacks leads nowhere";
  PutGateway("gw", "named", server, 0, {{"internal.istio.io/gateway-service", "other.gw.svc.cluster.local"}});
  EXPECT_EQ(Merged(), nullptr);
}

TEST_F(MergedGatewayTest, RoutersOfGatewayApiObjectsTakeNothingFromOtherNamespaces) {
  const std::string server = R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" })";
  PutGateway("elsewhere", "istio",
             R"(servers { port { number: 90 protocol: "HTTP" name: "h" } hosts: "x.com" })");
  PutGateway("gw", "managed", server, 0,
             {{"internal.istio.io/gateway-service", "ingress.gw.svc.cluster.local"},
              {"internal.istio.io/gateway-semantics", "gateway"},
              {"internal.istio.io/service-account-name", "account"}});
  EXPECT_THAT(Ports(*Merged()), ElementsAre("8080 HTTP : x.com"));
}

TEST_F(MergedGatewayTest, UnchangedOnesKeepTheirPointer) {
  PutGateway("a", "g", R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "x.com" })");
  const MergedGatewayPtr before = Merged();
  PutVirtualService("a", "v", "hosts: 'x.com'");
  EXPECT_EQ(Merged(), before);
  PutGateway("a", "g", R"(servers { port { number: 80 protocol: "HTTP" name: "h" } hosts: "y.com" })");
  EXPECT_NE(Merged(), before);
}

}  // namespace
}  // namespace fairlead::mesh
