#include "gateway_api/deployments.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "gateway_api/deployment_objects.h"
#include "gateway_api/derivation.h"
#include "gateway_api/status/status_board.h"
#include "mesh/view/proxy_scope.h"
#include "model/mesh_config.h"
#include "model/proxy_class.h"
#include "state/mesh.h"
#include "state/pod_slices.h"

// A Gateway of a folder has what Istio's controller of Gateways would make for it.
namespace fairlead::gateway_api {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::string_view kGateway = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop, generation: 1}
spec:
  gatewayClassName: istio
  listeners: [{name: http, port: 80, protocol: HTTP}]
)";
constexpr char kHost[] = "edge-istio.shop.svc.cluster.local";

std::string Pod(std::string_view name, std::string_view address, std::string_view account = "other",
                std::string_view labels = "app: x") {
  return StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: shop, labels: {",
                labels, "}}\nspec: {serviceAccountName: ", account,
                ", containers: [{name: proxy}]}\nstatus: {phase: Running, podIP: ", address,
                ", conditions: [{type: Ready, status: 'True'}]}\n");
}

class DeploymentsTest : public testing::Test {
 protected:
  explicit DeploymentsTest(GatewayAddresses addresses = {}) : mesh_(Steps(std::move(addresses))) {
    mesh_.Apply({}, model::MakeSettings(model::ParseMeshConfig("", "mesh.yaml").mesh,
                                        model::ParseMeshNetworks("", "networks.yaml").networks,
                                        "cluster.local", "Kubernetes"));
  }
  static std::vector<std::unique_ptr<state::Derivation>> Steps(GatewayAddresses addresses) {
    std::vector<std::unique_ptr<state::Derivation>> steps;
    steps.push_back(NewDeploymentsDerivation(std::move(addresses)));
    steps.push_back(state::NewPodSlicesDerivation());
    steps.push_back(std::make_unique<GatewayApiDerivation>());
    return steps;
  }
  void Apply(std::string_view manifests, bool gone = false) {
    const config::ParseResult parsed =
        config::ParseManifests(manifests, "mesh/edge.yaml", config::Admission::kPassed);
    for (const config::Diagnostic& one : parsed.diagnostics) ADD_FAILURE() << config::ToText(one);
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object : parsed.objects)
      changes.push_back({config::KeyOf(*object), gone ? nullptr : object});
    mesh_.Apply(changes, nullptr);
  }
  // Those of the Gateway's Service, "ADDRESS:PORT GATEWAY-NAME ACCOUNT" each.
  std::vector<std::string> Endpoints() const {
    std::vector<std::string> all;
    const auto found = mesh_.snapshot()->endpoints->Find(kHost, "shop");
    if (found == nullptr) return all;
    for (const model::EndpointShard& shard : found->shards) {
      for (const model::Endpoint& one : shard.endpoints) {
        if (one.port_name.str() != "http") continue;
        const model::Workload& workload = *one.workload;
        all.push_back(StrCat(one.addresses[0].str(), ":", one.port, " ",
                             LabelOr(workload.labels, "gateway.networking.k8s.io/gateway-name", "-"), " ",
                             workload.service_account.str()));
      }
    }
    return all;
  }
  // The Gateway's status.
  std::string Status() {
    board_.OnPublished(mesh_);
    for (const auto& [key, one] : board_.Current()) {
      if (one->object->kind() == config::Kind::kKubernetesGateway) return JsonText(one->status);
    }
    return "";
  }
  static std::string Endpoint(std::string_view address, std::string_view account = "edge-istio") {
    return StrCat(address, ":80 edge spiffe://cluster.local/ns/shop/sa/", account);
  }

  state::Mesh mesh_;
  StatusBoard board_;
};

TEST_F(DeploymentsTest, APodOfItsAccountIsAllThatAGatewayNeeds) {
  Apply(kGateway);
  EXPECT_THAT(Endpoints(), IsEmpty());
  EXPECT_THAT(Status(), HasSubstr("no instances found for hostname"));
  Apply(StrCat(Pod("edge-0", "10.0.0.9", "edge-istio"), Pod("web", "10.0.0.1")));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9")));
  EXPECT_THAT(Status(),
              AllOf(HasSubstr("Resource programmed, assigned to service(s) edge-istio.shop.svc.cluster"
                              ".local:80"),
                    HasSubstr(R"("addresses":[{"type":"IPAddress","value":"10.0.0.9"}])")));
  EXPECT_EQ(mesh_.written().size(), 3u) << "what is made is not written";
}

TEST_F(DeploymentsTest, ThePodMayComeFirstAndGo) {
  Apply(Pod("edge-0", "10.0.0.9", "edge-istio"));
  Apply(kGateway);
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9")));
  Apply(Pod("edge-0", "10.0.0.10", "edge-istio"));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.10")));
  Apply(Pod("edge-0", "10.0.0.10", "other"));
  EXPECT_THAT(Endpoints(), IsEmpty());
  Apply(Pod("edge-0", "10.0.0.10", "other", "gateway.networking.k8s.io/gateway-name: edge"));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.10", "other"))) << "whose label it has";
  Apply(Pod("edge-0", "10.0.0.10"), /*gone=*/true);
  EXPECT_THAT(Endpoints(), IsEmpty());
  Apply(kGateway, /*gone=*/true);
  EXPECT_EQ(mesh_.snapshot()->services->Find(kHost, "shop"), nullptr);
}

TEST_F(DeploymentsTest, OfAGatewayThatGoesThePodIsAsItIsWritten) {
  constexpr std::string_view kOwn =
      "---\napiVersion: v1\nkind: Service\nmetadata: {name: own, namespace: shop}\nspec: {clusterIP: None, "
      "selector: {gateway.networking.k8s.io/gateway-name: edge}, ports: [{name: http, port: 80}]}\n";
  Apply(StrCat(kGateway, kOwn, Pod("edge-0", "10.0.0.9", "edge-istio")));
  const auto count = [this] {
    const auto found = mesh_.snapshot()->endpoints->Find("own.shop.svc.cluster.local", "shop");
    size_t endpoints = 0;
    if (found != nullptr) {
      for (const model::EndpointShard& shard : found->shards) endpoints += shard.endpoints.size();
    }
    return endpoints;
  };
  EXPECT_EQ(count(), 1u);
  Apply(kGateway, /*gone=*/true);
  EXPECT_EQ(count(), 0u);
}

TEST_F(DeploymentsTest, AServiceThatIsWrittenCountsAndPicksThePods) {
  Apply(StrCat(kGateway,
               "---\napiVersion: v1\nkind: Service\nmetadata: {name: edge-istio, namespace: shop}\nspec: "
               "{clusterIP: 10.9.0.1, selector: {app: edge}, ports: [{name: http, port: 80}]}\n",
               Pod("edge-0", "10.0.0.9", "some", "app: edge")));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9", "some")));
  EXPECT_EQ(mesh_.snapshot()->services->Find(kHost, "shop")->type, "ClusterIP");
  EXPECT_THAT(Status(), HasSubstr("Resource programmed"));
}

TEST_F(DeploymentsTest, AddressesOfASliceAreProxiesOfTheGateway) {
  Apply(StrCat(
      kGateway,
      "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: edge-1, namespace: "
      "shop, labels: {kubernetes.io/service-name: edge-istio}}\naddressType: IPv4\nports: [{name: http, "
      "port: 80}]\nendpoints: [{addresses: [10.0.0.9]}]\n"));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9")));
  EXPECT_THAT(Status(), HasSubstr(R"("value":"10.0.0.9")"));
}

TEST_F(DeploymentsTest, TheAddressThatAGatewayAsksForIsItsOwn) {
  std::string gateway(kGateway);
  gateway += "  addresses: [{type: IPAddress, value: 192.0.2.7}]\n";
  Apply(StrCat(gateway, Pod("edge-0", "10.0.0.9", "edge-istio")));
  EXPECT_THAT(Status(), HasSubstr(R"("addresses":[{"type":"IPAddress","value":"192.0.2.7"}])"));
}

TEST_F(DeploymentsTest, PortsAreThoseOfListenersEachOnce) {
  Apply(
      "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge, namespace: shop}, "
      "spec: "
      "{gatewayClassName: istio, listeners: [{name: a.b, port: 80, protocol: HTTP, hostname: a.example}, "
      "{name: a-b, port: 81, protocol: HTTP}, {name: again, port: 80, protocol: HTTP, hostname: b.example}, "
      "{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53, protocol: TCP}]}}");
  std::vector<std::string> ports;
  for (const model::ServicePort& port : mesh_.snapshot()->services->Find(kHost, "shop")->ports)
    ports.push_back(StrCat(port.name, " ", port.port, " ", port.target_port));
  EXPECT_THAT(ports, ElementsAre("status-port 15021 15021", "a-b 80 80", "a-b-81 81 81", "dns 53 53",
                                 "dns-tcp 53 53"));
}

TEST_F(DeploymentsTest, TheInfrastructuresMetadataReplacesTheGatewaysOneByOne) {
  const auto service = [](const std::string& infrastructure) {
    const config::ParseResult parsed = config::ParseManifests(
        StrCat(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: "
            "shop, labels: {a: b}, annotations: {c: d}}\nspec: {gatewayClassName: istio, listeners: [{name: "
            "http, port: 80, protocol: HTTP}], infrastructure: {",
            infrastructure, "}}\n"),
        "mesh/edge.yaml", config::Admission::kPassed);
    EXPECT_EQ(parsed.objects.size(), 1u);
    return MakeGatewayService({parsed.objects.at(0), {"istio", nullptr}, "edge-istio", "edge-istio", {}}, {});
  };
  const config::ConfigPtr labelled = service("labels: {e: f}");
  EXPECT_FALSE(labelled->meta().labels.contains("a"));
  EXPECT_EQ(LabelOr(labelled->meta().labels, "e"), "f");
  EXPECT_EQ(LabelOr(labelled->meta().annotations, "c"), "d");
  const config::ConfigPtr annotated = service("annotations: {g: h}");
  EXPECT_EQ(LabelOr(annotated->meta().labels, "a"), "b");
  EXPECT_FALSE(annotated->meta().annotations.contains("c"));
}

TEST_F(DeploymentsTest, GatewaysOfOthersAreLeftAlone) {
  Apply(
      "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge, namespace: shop}, "
      "spec: "
      "{gatewayClassName: other, listeners: [{name: http, port: 80, protocol: HTTP}]}}");
  EXPECT_EQ(mesh_.snapshot()->services->Find(kHost, "shop"), nullptr);
  Apply(
      "{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: other}, spec: "
      "{controllerName: istio.io/gateway-controller}}");
  EXPECT_NE(mesh_.snapshot()->services->Find("edge-other.shop.svc.cluster.local", "shop"), nullptr);
}

class GivenAddress : public DeploymentsTest {
 protected:
  GivenAddress() : DeploymentsTest({{"edge.shop", {"10.0.0.9"}}}) {}
};

TEST_F(GivenAddress, StandsForAPod) {
  EXPECT_THAT(mesh_.Diagnostics(), IsEmpty()) << "nothing was read yet";
  Apply(Pod("web", "10.0.0.1"));
  ASSERT_EQ(mesh_.Diagnostics().size(), 1u);
  EXPECT_THAT(config::ToText(mesh_.Diagnostics()[0]),
              HasSubstr("shop/edge: --gatewayAddress names it, and there"));
  Apply(kGateway);
  EXPECT_THAT(mesh_.Diagnostics(), IsEmpty());
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9")));
  EXPECT_THAT(Status(), HasSubstr("Resource programmed"));
  Apply(Pod("mine", "10.0.0.9", "some"));
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9", "some"))) << "the Pod that has the address";
  Apply(Pod("mine", "10.0.0.9"), /*gone=*/true);
  EXPECT_THAT(Endpoints(), ElementsAre(Endpoint("10.0.0.9")));
}

TEST_F(GivenAddress, TheProxyThereIsTheGatewaysWhateverItCallsItself) {
  Apply(kGateway);
  auto proxy = std::make_shared<model::Proxy>();
  proxy->type = model::ProxyType::kRouter;
  proxy->id = "some-host.shop";
  proxy->ns = proxy->metadata.ns = "shop";
  proxy->ip_addresses = {"10.0.0.9"};
  proxy->metadata.cluster_id = "Kubernetes";
  proxy->proxy_class = model::ClassOf(*proxy);
  const auto scope = mesh::ComputeProxyScope(*mesh_.snapshot(), proxy);
  EXPECT_EQ(scope->targets->size(), 2u) << "the listener's port and that of probes";
  EXPECT_EQ(LabelOr(scope->labels, "gateway.networking.k8s.io/gateway-name"), "edge");
}

// A proxy with AUTO_REGISTER_GROUP brings such an entry.
TEST_F(GivenAddress, AnEntryThatTheProxyRegistersHidesNothing) {
  Apply(kGateway);
  Apply(R"(
apiVersion: v1
kind: Service
metadata: {name: both, namespace: shop}
spec:
  selector: {team: x}
  clusterIP: 10.96.0.9
  ports: [{name: http, port: 90}]
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: edges-10.0.0.9, namespace: shop, labels: {app: edge, team: x}}
spec: {address: 10.0.0.9, serviceAccount: edge-istio, ports: {http: 9000}}
)");
  auto proxy = std::make_shared<model::Proxy>();
  proxy->type = model::ProxyType::kRouter;
  proxy->id = "some-host.shop";
  proxy->ns = proxy->metadata.ns = "shop";
  proxy->ip_addresses = {"10.0.0.9"};
  proxy->metadata.cluster_id = "Kubernetes";
  proxy->proxy_class = model::ClassOf(*proxy);
  const auto scope = mesh::ComputeProxyScope(*mesh_.snapshot(), proxy);
  std::vector<std::string> targets;
  for (const mesh::ServiceTarget& one : *scope->targets)
    targets.push_back(StrCat(one.service->hostname.str(), ":", one.port->port, "->", one.target_port));
  EXPECT_THAT(targets, UnorderedElementsAre(StrCat(kHost, ":15021->15021"), StrCat(kHost, ":80->80"),
                                            "both.shop.svc.cluster.local:90->9000"));
  EXPECT_EQ(LabelOr(scope->labels, "gateway.networking.k8s.io/gateway-name"), "edge");
}

TEST(GatewayAddresses, AreReadByGateway) {
  const auto read = ParseGatewayAddresses({"edge.shop=10.0.0.9", "edge.shop=10.0.0.10", "a.b.shop=fd00::1"});
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->at("edge.shop"), ElementsAre("10.0.0.9", "10.0.0.10"));
  EXPECT_THAT(read->at("a.b.shop"), ElementsAre("fd00::1"));
  for (const char* wrong :
       {"10.0.0.9", "edge=10.0.0.9", ".shop=10.0.0.9", "edge.=10.0.0.9", "edge.shop=host", ""})
    EXPECT_FALSE(ParseGatewayAddresses({wrong}).ok()) << wrong;
}

}  // namespace
}  // namespace fairlead::gateway_api
