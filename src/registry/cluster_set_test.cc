// Services of several clusters by ServiceExports and ServiceImports.
#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kWeb = "web.shop.svc.cluster.local";
constexpr std::string_view kSet = "web.shop.svc.clusterset.local";

std::string Service(std::string_view vip) {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: ",
                vip, ", selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}\n---\n");
}
std::string Slice(std::string_view ip) {
  return StrCat(
      "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1, namespace: shop, ",
      "labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\n",
      "ports: [{name: http, port: 8080}]\nendpoints: [{addresses: [", ip, "]}]\n---\n");
}
constexpr std::string_view kExport =
    "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\nmetadata: {name: web, namespace: "
    "shop}\n---\n";
std::string Import(std::string_view ips) {
  return StrCat("apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: web, ",
                "namespace: shop}\nspec: {type: ClusterSetIP, ips: [", ips, "], ports: [{port: 80}]}\n---\n");
}

class ClusterSetTest : public testing::Test {
 protected:
  ClusterSetTest() { SetFeatures(true, true); }
  void SetFeatures(bool discovery, bool hosts, bool cluster_local = false) {
    auto settings = std::make_shared<model::Settings>();
    settings->mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>();
    settings->networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    settings->features.mcs_discovery = discovery;
    settings->features.mcs_hosts = hosts;
    settings->features.mcs_cluster_local = cluster_local;
    mesh_.SetSettings(settings);
  }
  void ApplyBoth() {
    mesh_.Apply(StrCat(Service("10.96.0.1"), Slice("10.0.0.1")));
    mesh_.Apply(StrCat(Service("10.97.0.1"), Slice("10.1.0.1")), "east");
  }
  // With "!" those that are for proxies of their own cluster alone.
  std::vector<std::string> Endpoints(std::string_view host) const {
    std::vector<std::string> texts;
    for (const model::Endpoint& endpoint : mesh_.Endpoints(host, "shop"))
      texts.push_back(StrCat(endpoint.addresses[0].str(), endpoint.own_cluster_only ? "!" : ""));
    return texts;
  }
  // "cluster:vip,vip", "" for the own cluster.
  std::vector<std::string> Vips(std::string_view host) const {
    std::vector<std::string> texts;
    const model::ServicePtr service = mesh_.Service(host);
    if (service == nullptr) return texts;
    texts.push_back(StrCat(service->cluster().str(), ":", Join(service->cluster_vips, ",")));
    for (const model::ServicePtr& one : service->in_other_clusters)
      texts.push_back(StrCat(one->cluster().str(), ":", Join(one->cluster_vips, ",")));
    return texts;
  }
  TestMesh mesh_;
};

TEST_F(ClusterSetTest, OnlyExportedEndpointsAreForOtherClusters) {
  ApplyBoth();
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1!", "10.1.0.1!"));
  mesh_.Apply(kExport, "east");
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1!", "10.1.0.1"));
  mesh_.Apply(kExport);
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1", "10.1.0.1"));
  mesh_.Delete(config::Kind::kServiceExport, "shop", "web", "east");
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1", "10.1.0.1!"));
  mesh_.Delete(config::Kind::kService, "shop", "web");
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1!", "10.1.0.1!")) << "exported, but there is no Service";
}

TEST_F(ClusterSetTest, AnExportMayComeFirst) {
  mesh_.Apply(kExport);
  ApplyBoth();
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1", "10.1.0.1!"));
}

TEST_F(ClusterSetTest, WithoutTheFeatureAllIsForAll) {
  SetFeatures(false, false);
  ApplyBoth();
  mesh_.Apply(StrCat(kExport, Import("10.200.0.1")));
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1", "10.1.0.1"));
  EXPECT_EQ(mesh_.Service(kSet), nullptr);
  EXPECT_THAT(Endpoints(kSet), IsEmpty());
}

TEST_F(ClusterSetTest, AnImportGivesTheServiceASecondHost) {
  ApplyBoth();
  mesh_.Apply(StrCat(kExport, Import("'fd00::1', 10.200.0.1, nonsense")));
  EXPECT_THAT(Vips(kSet), ElementsAre(":10.200.0.1,fd00::1")) << "what is no address does not count";
  EXPECT_EQ(mesh_.Service(kSet)->address, "10.200.0.1");
  EXPECT_EQ(mesh_.Service(kSet)->ports, mesh_.Service(kWeb)->ports);
  EXPECT_THAT(Endpoints(kSet), ElementsAre("10.0.0.1", "10.1.0.1!")) << "the other cluster imports nothing";
  EXPECT_THAT(Vips(kWeb), ElementsAre(":10.96.0.1", "east:10.97.0.1"));
  mesh_.Apply(StrCat(kExport, Import("10.201.0.1")), "east");
  EXPECT_THAT(Vips(kSet), ElementsAre(":10.200.0.1,fd00::1", "east:10.201.0.1"));
  EXPECT_THAT(Endpoints(kSet), ElementsAre("10.0.0.1", "10.1.0.1"));
  mesh_.Apply(Import("10.200.0.2"));
  EXPECT_THAT(Vips(kSet), ElementsAre(":10.200.0.2", "east:10.201.0.1"));
  mesh_.Apply(Import(""));
  EXPECT_THAT(Vips(kSet), ElementsAre("east:10.201.0.1"));
  mesh_.Delete(config::Kind::kServiceImport, "shop", "web", "east");
  EXPECT_EQ(mesh_.Service(kSet), nullptr);
  EXPECT_THAT(Endpoints(kSet), IsEmpty()) << "nothing of it is left";
}

TEST_F(ClusterSetTest, AnImportFollowsTheServiceOfAnyCluster) {
  mesh_.Apply(Import("10.200.0.1"));
  EXPECT_EQ(mesh_.Service(kSet), nullptr) << "there is no such Service yet";
  mesh_.Apply(StrCat(Service("10.97.0.1"), Slice("10.1.0.1"), kExport), "east");
  EXPECT_THAT(Vips(kSet), ElementsAre(":10.200.0.1"));
  EXPECT_TRUE(mesh_.Service(kSet)->selector.empty()) << "no pod of this cluster serves it";
  EXPECT_THAT(Endpoints(kSet), ElementsAre("10.1.0.1!"));
  mesh_.Apply(ReplaceAll(Service("10.97.0.1"), "port: 80,", "port: 81,"), "east");
  EXPECT_EQ(mesh_.Service(kSet)->ports[0].port, 81u);
  mesh_.Apply(Service("10.96.0.1"));
  EXPECT_EQ(mesh_.Service(kSet)->selector.size(), 1u);
  EXPECT_EQ(mesh_.Service(kSet)->ports[0].port, 80u) << "the first cluster's";
  mesh_.Delete(config::Kind::kService, "shop", "web");
  mesh_.Delete(config::Kind::kService, "shop", "web", "east");
  EXPECT_EQ(mesh_.Service(kSet), nullptr);
}

TEST_F(ClusterSetTest, TheUsualHostMayBeTheClustersOwn) {
  SetFeatures(true, true, true);
  ApplyBoth();
  for (const std::string_view cluster : {"", "east"})
    mesh_.Apply(StrCat(kExport, Import("10.200.0.1")), cluster);
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1!", "10.1.0.1!"));
  EXPECT_THAT(Endpoints(kSet), ElementsAre("10.0.0.1", "10.1.0.1"));
}

TEST_F(ClusterSetTest, HostsMayBeWithoutImports) {
  SetFeatures(true, false);
  ApplyBoth();
  mesh_.Apply(StrCat(kExport, Import("10.200.0.1")));
  EXPECT_EQ(mesh_.Service(kSet), nullptr);
  EXPECT_THAT(Endpoints(kWeb), ElementsAre("10.0.0.1", "10.1.0.1!"));
}

// What the world looks like when a cluster is lost and comes back.
TEST_F(ClusterSetTest, AClusterMayGoAndComeBack) {
  ApplyBoth();
  const std::string of_set = StrCat(kExport, Import("10.200.0.1"));
  mesh_.Apply(of_set);
  mesh_.Apply(of_set, "east");
  const std::string before = ToText(mesh_.output());
  mesh_.Delete(config::Kind::kServiceImport, "shop", "web", "east");
  mesh_.Delete(config::Kind::kServiceExport, "shop", "web", "east");
  mesh_.Delete(config::Kind::kService, "shop", "web", "east");
  mesh_.Delete(config::Kind::kEndpointSlice, "shop", "web-1", "east");
  EXPECT_THAT(Endpoints(kSet), ElementsAre("10.0.0.1"));
  mesh_.Apply(StrCat(of_set, Service("10.97.0.1"), Slice("10.1.0.1")), "east");
  EXPECT_EQ(ToText(mesh_.output()), before);
}

}  // namespace
}  // namespace fairlead::registry
