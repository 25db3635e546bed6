#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using model::Resolution;
using model::TrafficDistribution;
using testing::ElementsAre;

constexpr std::string_view kWeb = "web.default.svc.cluster.local";

std::string ServiceYaml(std::string_view spec, std::string_view metadata = "") {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: default", metadata,
                "}\nspec: {ports: [{name: http, port: 80, targetPort: 8080}]", spec, "}\n");
}

TEST(KubernetesService, ClusterIpIsItsAddress) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(", clusterIP: 10.96.0.1, selector: {app: web}", ", labels: {team: a}"));
  const model::ServicePtr web = mesh.Service(kWeb);
  ASSERT_NE(web, nullptr);
  EXPECT_EQ(web->registry, model::Registry::kKubernetes);
  EXPECT_EQ(web->name, "web");
  EXPECT_EQ(web->address, "10.96.0.1");
  EXPECT_THAT(web->cluster_vips, ElementsAre("10.96.0.1"));
  EXPECT_EQ(web->resolution, Resolution::kClientSideLb);
  EXPECT_FALSE(web->headless());
  EXPECT_FALSE(web->mesh_external);
  EXPECT_EQ(web->labels, (LabelMap{{"team", "a"}}));
  EXPECT_EQ(web->selector, (LabelMap{{"app", "web"}}));
  ASSERT_EQ(web->ports.size(), 1u);
  EXPECT_EQ(web->ports[0].protocol, model::Protocol::kHttp);
  EXPECT_EQ(web->ports[0].target_port, 8080u);
  EXPECT_TRUE(web->visibility.everywhere);
}

TEST(KubernetesService, OfUnknownAgeIsOlderThanAnyEntry) {
  TestMesh mesh;
  mesh.Apply(StrCat(ServiceYaml(", clusterIP: 10.96.0.1"), R"(
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: old, namespace: default, creationTimestamp: "2020-01-01T00:00:00Z"}
spec: {hosts: [old.example.com], ports: [{number: 80, name: http, protocol: HTTP}]}
)"));
  EXPECT_LT(mesh.Service(kWeb)->creation_time, mesh.Service("old.example.com")->creation_time);
}

TEST(KubernetesService, DualStackHasBothAddresses) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(R"(, clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1, "fd00::1"])"));
  EXPECT_EQ(mesh.Service(kWeb)->address, "10.96.0.1");
  EXPECT_THAT(mesh.Service(kWeb)->cluster_vips, ElementsAre("10.96.0.1", "fd00::1"));
}

TEST(KubernetesService, HeadlessHasNoAddress) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(", clusterIP: None"));
  EXPECT_EQ(mesh.Service(kWeb)->address, "0.0.0.0");
  EXPECT_EQ(mesh.Service(kWeb)->resolution, Resolution::kPassthrough);
  EXPECT_TRUE(mesh.Service(kWeb)->headless());
}

TEST(KubernetesService, NamedTargetPort) {
  TestMesh mesh;
  mesh.Apply(R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.1, ports: [{name: tcp-x, port: 80, targetPort: web}, {name: dns, port: 53, protocol: UDP}]}
)");
  const auto& ports = mesh.Service(kWeb)->ports;
  EXPECT_EQ(ports[0].target_port, 0u);
  EXPECT_EQ(ports[0].target_port_name, "web");
  EXPECT_EQ(ports[0].protocol, model::Protocol::kTcp);
  EXPECT_EQ(ports[1].protocol, model::Protocol::kUdp);
}

TEST(KubernetesService, AnnotationsAddIdentities) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml("", R"(, annotations: {alpha.istio.io/kubernetes-serviceaccounts: "b,a",
      alpha.istio.io/canonical-serviceaccounts: "user@example.com"})"));
  EXPECT_THAT(mesh.Service(kWeb)->service_accounts,
              ElementsAre("spiffe://cluster.local/ns/default/sa/a", "spiffe://cluster.local/ns/default/sa/b",
                          "user@example.com"));
}

TEST(KubernetesService, ExportToAnnotation) {
  const auto visibility = [](std::string_view value) {
    TestMesh mesh;
    mesh.Apply(ServiceYaml("", StrCat(", annotations: {networking.istio.io/exportTo: \"", value, "\"}")));
    return mesh.Service(kWeb)->visibility;
  };
  EXPECT_EQ(visibility("."), (model::Visibility{false, {"default"}}));
  EXPECT_EQ(visibility("a, b"), (model::Visibility{false, {"a", "b"}}));
  EXPECT_EQ(visibility("~"), (model::Visibility{false, {}}));
  EXPECT_EQ(visibility("a,~"), (model::Visibility{false, {}}));
  EXPECT_EQ(visibility("~,*"), model::Visibility());
}

TEST(KubernetesService, ExportToDefaultsToTheMeshs) {
  TestMesh mesh;
  mesh.SetSettings(R"({"defaultServiceExportTo": ["."]})", "{}");
  mesh.Apply(ServiceYaml(""));
  EXPECT_EQ(mesh.Service(kWeb)->visibility, (model::Visibility{false, {"default"}}));
  mesh.Apply(ServiceYaml("", R"(, annotations: {networking.istio.io/exportTo: "*"})"));
  EXPECT_TRUE(mesh.Service(kWeb)->visibility.everywhere);
}

TEST(KubernetesService, LoadBalancerAddressesAndExternalIps) {
  TestMesh mesh;
  mesh.Apply(StrCat(ServiceYaml(", type: LoadBalancer, externalIPs: [192.0.2.9]"),
                    "status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {hostname: lb.example.com}]}}\n"));
  EXPECT_THAT(mesh.Service(kWeb)->external_addresses,
              ElementsAre("192.0.2.1", "lb.example.com", "192.0.2.9"));
  EXPECT_EQ(mesh.Service(kWeb)->type, "LoadBalancer");
}

TEST(KubernetesService, TrafficDistributionOfFieldThenServiceThenNamespace) {
  TestMesh mesh;
  mesh.Apply(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: "
      "{networking.istio.io/traffic-distribution: prefersamenode}}\n");
  mesh.Apply(ServiceYaml(""));
  EXPECT_EQ(mesh.Service(kWeb)->traffic_distribution, TrafficDistribution::kPreferSameNode);
  mesh.Apply(ServiceYaml("", ", annotations: {networking.istio.io/traffic-distribution: PreferClose}"));
  EXPECT_EQ(mesh.Service(kWeb)->traffic_distribution, TrafficDistribution::kPreferSameZone);
  mesh.Apply(ServiceYaml("", ", annotations: {networking.istio.io/traffic-distribution: what}"));
  EXPECT_EQ(mesh.Service(kWeb)->traffic_distribution, TrafficDistribution::kAny)
      << "the service's word is final";
  mesh.Apply(ServiceYaml(", trafficDistribution: PreferSameNode"));
  EXPECT_EQ(mesh.Service(kWeb)->traffic_distribution, TrafficDistribution::kPreferSameNode);
}

TEST(KubernetesService, ANamespacesAnnotationReachesItsServices) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(""));
  const model::ServicePtr before = mesh.Service(kWeb);
  mesh.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {a: b}}\n");
  EXPECT_EQ(mesh.Service(kWeb), before);
  mesh.Apply(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: "
      "{networking.istio.io/traffic-distribution: PreferClose}}\n");
  EXPECT_EQ(mesh.Service(kWeb)->traffic_distribution, TrafficDistribution::kPreferSameZone);
  EXPECT_FALSE(mesh.output().changes.services.empty());
}

TEST(KubernetesService, PoliciesOfTheSpec) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(
      ", internalTrafficPolicy: Local, publishNotReadyAddresses: true, sessionAffinity: ClientIP"));
  EXPECT_TRUE(mesh.Service(kWeb)->node_local);
  EXPECT_TRUE(mesh.Service(kWeb)->publish_not_ready_addresses);
  EXPECT_EQ(mesh.Service(kWeb)->session_affinity, "ClientIP");
}

std::string Alias(std::string_view name, std::string_view target, std::string_view ns = "default") {
  return StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: ", name, ", namespace: ", ns,
                "}\nspec: {type: ExternalName, externalName: ", target, "}\n---\n");
}

TEST(ExternalName, IsAnAliasOfTheServiceAtTheEndOfTheChain) {
  TestMesh mesh;
  mesh.Apply(StrCat(ServiceYaml(", clusterIP: 10.96.0.1"), "---\n", Alias("one", kWeb),
                    Alias("two", "one.default.svc.cluster.local", "alpha")));
  const model::ServicePtr one = mesh.Service("one.default.svc.cluster.local");
  EXPECT_EQ(one->resolution, Resolution::kAlias);
  EXPECT_TRUE(one->mesh_external);
  EXPECT_EQ(one->external_name, kWeb);
  EXPECT_THAT(mesh.Service(kWeb)->aliases,
              ElementsAre(model::NamespacedHost{"two.alpha.svc.cluster.local", "alpha"},
                          model::NamespacedHost{"one.default.svc.cluster.local", "default"}));
  EXPECT_TRUE(one->aliases.empty());
}

TEST(ExternalName, CirclesLeadNowhere) {
  TestMesh mesh;
  mesh.Apply(StrCat(Alias("a", "b.default.svc.cluster.local"), Alias("b", "a.default.svc.cluster.local")));
  EXPECT_TRUE(mesh.Service("a.default.svc.cluster.local")->aliases.empty());
  EXPECT_TRUE(mesh.Service("b.default.svc.cluster.local")->aliases.empty());
}

TEST(ExternalName, ComingAndGoingChangesTheTargetAlone) {
  TestMesh mesh;
  mesh.Apply(ServiceYaml(", clusterIP: 10.96.0.1"));
  const model::ServicePtr plain = mesh.Service(kWeb);
  mesh.Apply(Alias("one", kWeb));
  EXPECT_NE(mesh.Service(kWeb), plain);
  const model::ServicePtr aliased = mesh.Service(kWeb);
  mesh.Apply(Alias("other", "elsewhere.example.com"));
  EXPECT_EQ(mesh.Service(kWeb), aliased);
  mesh.Delete(config::Kind::kService, "default", "one");
  EXPECT_EQ(mesh.Service(kWeb), plain);
  EXPECT_EQ(mesh.Service("one.default.svc.cluster.local"), nullptr);
}

TEST(ExternalName, MayStandForAServiceEntrysHost) {
  TestMesh mesh;
  mesh.Apply(StrCat(Alias("ext", "api.example.com"), R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: default}
spec: {hosts: [api.example.com], resolution: DNS, ports: [{number: 80, name: http, protocol: HTTP}]}
)"));
  EXPECT_THAT(mesh.Service("api.example.com")->aliases,
              ElementsAre(model::NamespacedHost{"ext.default.svc.cluster.local", "default"}));
}

TEST(DiscoverySelectors, HideWhatIsInOtherNamespaces) {
  TestMesh mesh;
  mesh.SetSettings(R"({"discoverySelectors": [{"matchLabels": {"mesh": "on"}}]})", "{}");
  mesh.Apply(StrCat(ServiceYaml(""), R"(
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: other}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: other, labels: {mesh: "on"}}
)"));
  EXPECT_EQ(mesh.Service(kWeb), nullptr);
  EXPECT_NE(mesh.Service("web.other.svc.cluster.local"), nullptr);
  mesh.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {mesh: \"on\"}}\n");
  EXPECT_NE(mesh.Service(kWeb), nullptr);
  mesh.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n");
  EXPECT_EQ(mesh.Service("web.other.svc.cluster.local"), nullptr);
}

}  // namespace
}  // namespace fairlead::registry
