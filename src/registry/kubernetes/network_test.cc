#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using testing::ElementsAre;

std::vector<std::string> Gateways(const TestMesh& mesh) {
  std::vector<std::string> texts;
  for (const model::NetworkGateway& g : mesh.output().network_gateways) {
    texts.push_back(
        StrCat(g.network.str(), "@", g.cluster.str(), " ", g.address, ":", g.port, "/", g.hbone_port));
  }
  return texts;
}

std::string Gateway(std::string_view labels, std::string_view spec, std::string_view more = "") {
  return StrCat(
      "apiVersion: v1\nkind: Service\nmetadata: {name: eastwest, namespace: istio-system, labels: {", labels,
      "}", more, "}\nspec: {ports: [{name: tls, port: 15443, nodePort: 31443}], ", spec,
      "}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}\n---\n");
}
constexpr std::string_view kNetwork1 = "topology.istio.io/network: net1";

constexpr std::string_view kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
status: {phase: Running, podIP: 10.1.0.1}
---
)";
std::string NetworkOfPod(const TestMesh& mesh) {
  return (*mesh.output().workloads.begin())->workload->network.str();
}

TEST(NetworkOfPods, LabelThenSystemNamespaceThenRegistryThenRange) {
  TestMesh mesh;
  mesh.SetSettings("{}", R"({"networks": {"wide": {"endpoints": [{"fromCidr": "10.0.0.0/8"}]},
                                          "narrow": {"endpoints": [{"fromCidr": "10.1.0.0/16"}]}}})");
  mesh.Apply(kPod);
  EXPECT_EQ(NetworkOfPod(mesh), "wide");
  mesh.SetSettings("{}", R"({"networks": {"wide": {"endpoints": [{"fromCidr": "10.0.0.0/8"}]},
                                          "here": {"endpoints": [{"fromRegistry": "Kubernetes"}]}}})");
  mesh.Apply("");
  EXPECT_EQ(NetworkOfPod(mesh), "here");
  mesh.Apply(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: istio-system, labels: {topology.istio.io/network: "
      "sys}}\n");
  EXPECT_EQ(NetworkOfPod(mesh), "sys");
  EXPECT_EQ(LabelOr((*mesh.output().workloads.begin())->workload->labels, "topology.istio.io/network"),
            "sys");
  mesh.Apply(
      ReplaceAll(kPod, "namespace: default", "namespace: default, labels: {topology.istio.io/network: own}"));
  EXPECT_EQ(NetworkOfPod(mesh), "own");
}

TEST(NetworkGateways, ServicesWithTheNetworkLabel) {
  TestMesh mesh;
  mesh.Apply(Gateway(kNetwork1, "type: LoadBalancer"));
  EXPECT_THAT(Gateways(mesh), ElementsAre("net1@Kubernetes 192.0.2.1:15443/0"));
  EXPECT_TRUE(mesh.output().changes.network_gateways);
  mesh.Delete(config::Kind::kService, "istio-system", "eastwest");
  EXPECT_TRUE(Gateways(mesh).empty());
}

TEST(NetworkGateways, GatewayPortLabelMustNameAPortOfTheService) {
  TestMesh mesh;
  mesh.Apply(Gateway("topology.istio.io/network: net1, networking.istio.io/gatewayPort: \"9443\"",
                     "type: LoadBalancer"));
  EXPECT_TRUE(Gateways(mesh).empty());
  mesh.Apply(ReplaceAll(Gateway("topology.istio.io/network: net1, networking.istio.io/gatewayPort: \"9443\"",
                                "type: LoadBalancer"),
                        "port: 15443", "port: 9443"));
  EXPECT_THAT(Gateways(mesh), ElementsAre("net1@Kubernetes 192.0.2.1:9443/0"));
}

TEST(NetworkGateways, NodePortsAtTheSelectedNodesExternalAddresses) {
  TestMesh mesh;
  const std::string nodes = R"(
apiVersion: v1
kind: Node
metadata: {name: a, labels: {edge: "true"}}
status: {addresses: [{type: InternalIP, address: 10.0.0.1}, {type: ExternalIP, address: 198.51.100.1}]}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {addresses: [{type: ExternalIP, address: 198.51.100.2}]}
)";
  mesh.Apply(StrCat(Gateway(kNetwork1, "type: NodePort",
                            R"(, annotations: {traffic.istio.io/nodeSelector: '{"edge":"true"}'})"),
                    nodes));
  EXPECT_THAT(Gateways(mesh), ElementsAre("net1@Kubernetes 198.51.100.1:31443/0"));
  mesh.Apply(ReplaceAll(nodes, "name: b", "name: b, labels: {edge: \"true\"}"));
  EXPECT_THAT(Gateways(mesh),
              ElementsAre("net1@Kubernetes 198.51.100.1:31443/0", "net1@Kubernetes 198.51.100.2:31443/0"));
}

TEST(NetworkGateways, OfMeshNetworks) {
  TestMesh mesh;
  mesh.SetSettings("{}", R"({"networks": {
      "far": {"gateways": [{"address": "203.0.113.1", "port": 443}]},
      "here": {"endpoints": [{"fromRegistry": "Kubernetes"}],
               "gateways": [{"registryServiceName": "eastwest.istio-system.svc.cluster.local", "port": 15443}]},
      "away": {"gateways": [{"registryServiceName": "eastwest.istio-system.svc.cluster.local", "port": 15443}]}}})");
  mesh.Apply(Gateway("", "type: LoadBalancer"));
  EXPECT_THAT(Gateways(mesh), ElementsAre("far@ 203.0.113.1:443/0", "here@Kubernetes 192.0.2.1:15443/0"));
}

constexpr std::string_view kResource = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: cross, namespace: istio-system, labels: {topology.istio.io/network: net2}}
spec:
  gatewayClassName: istio-remote
  addresses: [{type: IPAddress, value: 203.0.113.1}, {type: Hostname, value: gw.example.com}, {type: example.com/Own, value: x}]
  listeners:
  - {name: by-option, port: 9443, protocol: TLS, tls: {mode: Passthrough, options: {gateway.istio.io/listener-protocol: auto-passthrough}}}
  - {name: by-port, port: 15443, protocol: TLS, tls: {mode: Passthrough}}
  - {name: plain, port: 15008, protocol: HBONE}
  - {name: other, port: 443, protocol: TLS, tls: {mode: Passthrough}}
)";

TEST(NetworkGateways, GatewayResources) {
  TestMesh mesh;
  mesh.Apply(kResource);
  EXPECT_THAT(
      Gateways(mesh),
      ElementsAre("net2@Kubernetes 203.0.113.1:9443/0", "net2@Kubernetes 203.0.113.1:15008/15008",
                  "net2@Kubernetes 203.0.113.1:15443/0", "net2@Kubernetes gw.example.com:9443/0",
                  "net2@Kubernetes gw.example.com:15008/15008", "net2@Kubernetes gw.example.com:15443/0"));
  mesh.Apply(ReplaceAll(kResource, ", labels: {topology.istio.io/network: net2}", ""));
  EXPECT_TRUE(Gateways(mesh).empty());
}

TEST(MeshNetworks, BadRangesAreReported) {
  TestMesh mesh;
  mesh.SetSettings("{}", R"({"networks": {"n": {"endpoints": [{"fromCidr": "ten"}]}}})");
  mesh.Apply("");
  EXPECT_THAT(mesh.DiagnosticCodes(), ElementsAre("bad-setting"));
}

}  // namespace
}  // namespace fairlead::registry
