// Several Kubernetes clusters in one mesh.
#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kWeb = "web.shop.svc.cluster.local";

std::string Service(std::string_view vip, std::string_view more = "") {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop", more,
                "}\nspec: {clusterIP: ", vip,
                ", selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}\n---\n");
}
std::string Pod(std::string_view ip, std::string_view account = "web") {
  return StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: shop, labels: {app: web}}\n",
                "spec: {nodeName: n1, serviceAccountName: ", account, ", subdomain: web}\n",
                "status: {phase: Running, podIP: ", ip,
                ", conditions: [{type: Ready, status: \"True\"}]}\n---\n");
}
std::string Slice(std::string_view ip) {
  return StrCat(
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1, namespace: shop, "
      "labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\n"
      "endpoints: [{addresses: [",
      ip, "], targetRef: {kind: Pod, namespace: shop, name: web-0}}]\n---\n");
}
std::string Node(std::string_view region) {
  return StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/region: ",
                region, "}}\n---\n");
}

class ClustersTest : public testing::Test {
 protected:
  // The same names in both clusters.
  void ApplyBoth() {
    mesh_.Apply(StrCat(Service("10.96.0.1"), Pod("10.0.0.1"), Slice("10.0.0.1"), Node("here")));
    mesh_.Apply(StrCat(Service("10.97.0.1"), Pod("10.1.0.1", "other"), Slice("10.1.0.1"), Node("there")),
                "east");
  }
  std::vector<std::string> Endpoints() const {
    std::vector<std::string> texts;
    for (const model::Endpoint& endpoint : mesh_.Endpoints(kWeb, "shop")) {
      const model::Workload& w = *endpoint.workload;
      texts.push_back(StrCat(endpoint.addresses[0].str(), " ", w.cluster.str(), "=",
                             LabelOr(w.labels, "topology.istio.io/cluster"), " ", w.locality.ToString(), " ",
                             w.network.str()));
    }
    return texts;
  }
  // "cluster:vip" of the service, "" for the own cluster.
  std::vector<std::string> Vips() const {
    std::vector<std::string> texts;
    const model::ServicePtr service = mesh_.Service(kWeb);
    if (service == nullptr) return texts;
    texts.push_back(StrCat(service->cluster().str(), ":", Join(service->cluster_vips, ",")));
    for (const model::ServicePtr& one : service->in_other_clusters)
      texts.push_back(StrCat(one->cluster().str(), ":", Join(one->cluster_vips, ",")));
    return texts;
  }
  TestMesh mesh_;
};

TEST_F(ClustersTest, EndpointsOfAllAreTheServicesWithTheirOwnPlace) {
  mesh_.SetSettings("{}", R"({"networks": {"near": {"endpoints": [{"fromRegistry": "Kubernetes"}]},
                                          "far": {"endpoints": [{"fromRegistry": "east"}]}}})");
  ApplyBoth();
  EXPECT_THAT(Endpoints(),
              ElementsAre("10.0.0.1 Kubernetes=Kubernetes here near", "10.1.0.1 east=east there far"));
  EXPECT_THAT(
      mesh_.Shards(kWeb, "shop")->service_accounts,
      ElementsAre("spiffe://cluster.local/ns/shop/sa/other", "spiffe://cluster.local/ns/shop/sa/web"));
  EXPECT_THAT(Vips(), ElementsAre(":10.96.0.1", "east:10.97.0.1"));
  EXPECT_EQ(mesh_.output().services.size(), 1u);
  EXPECT_EQ(mesh_.output().workloads.size(), 2u);
}

TEST_F(ClustersTest, WhatGoesInOneStaysInTheOther) {
  ApplyBoth();
  mesh_.Delete(config::Kind::kPod, "shop", "web-0", "east");
  EXPECT_THAT(Endpoints(), ElementsAre("10.0.0.1 Kubernetes=Kubernetes here "));
  EXPECT_THAT(mesh_.DiagnosticCodes(), ElementsAre("missing-pod"));
  EXPECT_EQ(config::Describe(*mesh_.output().diagnostics[0].object),
            "EndpointSlice shop/web-1 of cluster east");
  mesh_.Apply(Pod("10.1.0.1"), "east");
  EXPECT_THAT(mesh_.DiagnosticCodes(), IsEmpty());
  mesh_.Delete(config::Kind::kPod, "shop", "web-0");
  EXPECT_THAT(Endpoints(), ElementsAre("10.1.0.1 east=east there "));
  mesh_.Delete(config::Kind::kService, "shop", "web");
  EXPECT_THAT(Vips(), ElementsAre("east:10.97.0.1")) << "the other cluster's stands in its place";
  mesh_.Apply(Service("10.96.0.2"));
  EXPECT_THAT(Vips(), ElementsAre(":10.96.0.2", "east:10.97.0.1"));
  mesh_.Delete(config::Kind::kService, "shop", "web", "east");
  EXPECT_THAT(Vips(), ElementsAre(":10.96.0.2"));
}

TEST_F(ClustersTest, ANodeAndASystemNamespaceAreTheirClustersOwn) {
  ApplyBoth();
  mesh_.Apply(Node("moved"), "east");
  mesh_.Apply(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: istio-system, labels: {topology.istio.io/network: "
      "far}}\n",
      "east");
  EXPECT_THAT(Endpoints(),
              ElementsAre("10.0.0.1 Kubernetes=Kubernetes here ", "10.1.0.1 east=east moved far"));
}

TEST_F(ClustersTest, TheFirstClustersServiceStandsForAll) {
  mesh_.Apply(Service("10.98.0.1", ", annotations: {alpha.istio.io/canonical-serviceaccounts: west}"),
              "west");
  mesh_.Apply(Service("10.97.0.1", ", annotations: {alpha.istio.io/canonical-serviceaccounts: east}"),
              "east");
  EXPECT_THAT(Vips(), ElementsAre("east:10.97.0.1", "west:10.98.0.1")) << "by the clusters' ids";
  EXPECT_THAT(mesh_.Service(kWeb)->service_accounts, ElementsAre("east", "west"));
  mesh_.Apply(ReplaceAll(Service("10.96.0.1"), "name: http", "name: tcp"));
  EXPECT_THAT(Vips(), ElementsAre(":10.96.0.1", "east:10.97.0.1", "west:10.98.0.1"));
  EXPECT_EQ(mesh_.Service(kWeb)->ports[0].name, "tcp");
}

TEST_F(ClustersTest, AServiceMayBeInAnotherClusterAlone) {
  mesh_.Apply(StrCat(Service("10.97.0.1"), Pod("10.1.0.1"), Slice("10.1.0.1")), "east");
  EXPECT_EQ(mesh_.Service(kWeb)->address, "10.97.0.1");
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "10.1.0.1:8080");
  mesh_.Delete(config::Kind::kService, "shop", "web", "east");
  mesh_.Delete(config::Kind::kEndpointSlice, "shop", "web-1", "east");
  mesh_.Delete(config::Kind::kPod, "shop", "web-0", "east");
  EXPECT_EQ(mesh_.Service(kWeb), nullptr);
  EXPECT_TRUE(mesh_.output().endpoints.empty() && mesh_.output().workloads.empty());
}

TEST_F(ClustersTest, HeadlessServicesHaveThePodsOfAll) {
  mesh_.Apply(StrCat(Service("None"), Pod("10.0.0.1"), Slice("10.0.0.1")));
  mesh_.Apply(StrCat(Service("None"), Pod("10.1.0.1"), Slice("10.1.0.1")), "east");
  EXPECT_TRUE(mesh_.Service(kWeb)->headless());
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "10.0.0.1:8080 10.1.0.1:8080");
}

TEST_F(ClustersTest, AnExternalNameIsOneAliasWhicheverClusterHasIt) {
  constexpr std::string_view kAlias =
      "apiVersion: v1\nkind: Service\nmetadata: {name: old, namespace: shop}\n"
      "spec: {type: ExternalName, externalName: web.shop.svc.cluster.local}\n---\n";
  ApplyBoth();
  mesh_.Apply(kAlias);
  mesh_.Apply(kAlias, "east");
  EXPECT_EQ(mesh_.Service(kWeb)->aliases.size(), 1u);
  EXPECT_THAT(Vips(), ElementsAre(":10.96.0.1", "east:10.97.0.1"));
  mesh_.Delete(config::Kind::kService, "shop", "old", "east");
  EXPECT_EQ(mesh_.Service(kWeb)->aliases.size(), 1u) << "the own cluster still has it";
  mesh_.Delete(config::Kind::kService, "shop", "old");
  EXPECT_TRUE(mesh_.Service(kWeb)->aliases.empty());
}

TEST_F(ClustersTest, ServiceEntriesSelectPodsOfAll) {
  mesh_.Apply(StrCat(Pod("10.0.0.1"), R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: entry, namespace: shop}
spec:
  hosts: [entry.example.com]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  workloadSelector: {labels: {app: web}}
)"));
  mesh_.Apply(Pod("10.1.0.1"), "east");
  EXPECT_EQ(mesh_.Addresses("entry.example.com", "shop"), "10.0.0.1:80 10.1.0.1:80");
  mesh_.Delete(config::Kind::kPod, "shop", "web-0");
  EXPECT_EQ(mesh_.Addresses("entry.example.com", "shop"), "10.1.0.1:80");
}

TEST_F(ClustersTest, WorkloadEntriesAreSelectedByServicesOfTheOwnClusterAlone) {
  constexpr std::string_view kEntry =
      "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop}\n"
      "spec: {address: 3.3.3.3, labels: {app: web}}\n---\n";
  mesh_.Apply(StrCat(Service("10.97.0.1"), "---\n"), "east");
  mesh_.Apply(kEntry);
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "");
  mesh_.Apply(Service("10.96.0.1"));
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "3.3.3.3:8080");
}

constexpr std::string_view kRemoteEntry =
    "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop}\n"
    "spec: {address: 4.4.4.4, labels: {app: web}}\n---\n";

// Of the own cluster's ServiceEntries, and of the Services beside them.
TEST_F(ClustersTest, WorkloadEntriesOfOtherClustersAreSelected) {
  mesh_.SetSettings("{}", R"({"networks": {"far": {"endpoints": [{"fromRegistry": "east"}]}}})");
  mesh_.Apply(StrCat(Service("10.96.0.1"), R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: entry, namespace: shop}
spec:
  hosts: [entry.example.com]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  workloadSelector: {labels: {app: web}}
)"));
  mesh_.Apply(kRemoteEntry, "east");
  EXPECT_EQ(mesh_.Addresses("entry.example.com", "shop"), "4.4.4.4:80");
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "") << "its own cluster has no such Service";
  mesh_.Apply(Service("10.97.0.1"), "east");
  EXPECT_THAT(Endpoints(), ElementsAre("4.4.4.4 east=east  far"));
  mesh_.Apply(ReplaceAll(std::string(kRemoteEntry), "4.4.4.4", "5.5.5.5"));
  EXPECT_EQ(mesh_.Addresses("entry.example.com", "shop"), "5.5.5.5:80 4.4.4.4:80")
      << "one of the same name is another one";
  mesh_.Delete(config::Kind::kWorkloadEntry, "shop", "vm", "east");
  EXPECT_EQ(mesh_.Addresses("entry.example.com", "shop"), "5.5.5.5:80");
  EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), "5.5.5.5:8080");
}

TEST_F(ClustersTest, WorkloadEntriesOfOtherClustersMayBeLeftAlone) {
  for (const bool all_clusters : {false, true}) {
    auto settings = std::make_shared<model::Settings>();
    settings->mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
    settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    settings->features.entries_of_all_clusters = all_clusters;
    mesh_.SetSettings(settings);
    mesh_.Apply(StrCat(Service("10.97.0.1"), kRemoteEntry), "east");
    EXPECT_EQ(mesh_.Addresses(kWeb, "shop"), all_clusters ? "4.4.4.4:8080" : "");
  }
}

TEST_F(ClustersTest, EachHasItsDiscoverySelectors) {
  mesh_.SetSettings(R"({"discoverySelectors": [{"matchLabels": {"mesh": "on"}}]})", "{}");
  ApplyBoth();
  EXPECT_EQ(mesh_.Service(kWeb), nullptr);
  mesh_.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {mesh: \"on\"}}\n", "east");
  EXPECT_THAT(Vips(), ElementsAre("east:10.97.0.1"));
  EXPECT_THAT(Endpoints(), ElementsAre("10.1.0.1 east=east there "));
}

TEST_F(ClustersTest, GatewaysToNetworksAreOfEveryCluster) {
  const auto gateway = [](std::string_view network, std::string_view ip) {
    return StrCat(
        "apiVersion: v1\nkind: Service\nmetadata: {name: eastwest, namespace: istio-system, labels: ",
        "{topology.istio.io/network: ", network,
        "}}\nspec: {type: LoadBalancer, clusterIP: 10.99.0.1, ports: [{name: tls, port: 15443}]}\n",
        "status: {loadBalancer: {ingress: [{ip: ", ip, "}]}}\n");
  };
  mesh_.Apply(gateway("near", "192.0.2.1"));
  mesh_.Apply(gateway("far", "192.0.2.2"), "east");
  std::vector<std::string> texts;
  for (const model::NetworkGateway& g : mesh_.output().network_gateways)
    texts.push_back(StrCat(g.network.str(), " ", g.cluster.str(), " ", g.address));
  EXPECT_THAT(texts, ElementsAre("far east 192.0.2.2", "near Kubernetes 192.0.2.1"));
}

TEST_F(ClustersTest, AChangeInOneLeavesEqualValuesAlone) {
  ApplyBoth();
  const model::ServicePtr service = mesh_.Service(kWeb);
  const model::RegistryOutput& after = mesh_.Apply(Pod("10.1.0.1", "other"), "east");
  EXPECT_TRUE(after.changes.services.empty() && after.changes.endpoints.empty() &&
              after.changes.workloads.empty());
  mesh_.Apply(Service("10.96.0.1"));
  EXPECT_EQ(mesh_.Service(kWeb), service);
}

TEST_F(ClustersTest, ProblemsOfTheSettingsAreSaidOnce) {
  mesh_.SetSettings("{}", R"({"networks": {"n": {"endpoints": [{"fromCidr": "ten"}]}}})");
  ApplyBoth();
  EXPECT_THAT(mesh_.DiagnosticCodes(), ElementsAre("bad-setting"));
}

}  // namespace
}  // namespace fairlead::registry
