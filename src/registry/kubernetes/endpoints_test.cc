#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using model::Health;
using testing::ElementsAre;

constexpr std::string_view kWeb = "web.default.svc.cluster.local";
constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
)";

std::string Pod(std::string_view name, std::string_view ip, std::string_view metadata = "",
                std::string_view spec = "", std::string_view ready = "True") {
  return StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: default", metadata,
                "}\nspec: {serviceAccountName: web", spec, "}\nstatus: {phase: Running, podIP: ", ip,
                ", conditions: [{type: Ready, status: \"", ready, "\"}]}\n---\n");
}
std::string Slice(std::string_view name, std::string_view endpoints, std::string_view port = "8080") {
  return StrCat("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: ", name,
                ", namespace: default, labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\nports: "
                "[{name: http, port: ",
                port, "}]\nendpoints: [", endpoints, "]\n---\n");
}
std::string At(std::string_view ip, std::string_view pod, std::string_view conditions = "ready: true") {
  return StrCat("{addresses: [", ip, "], conditions: {", conditions,
                "}, targetRef: {kind: Pod, namespace: default, name: ", pod, "}}");
}

TEST(SliceEndpoints, CarryTheirPodsWorkload) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", At("10.0.0.1", "web-1")),
                    Pod("web-1", "10.0.0.1", ", labels: {app: web, security.istio.io/tlsMode: istio}",
                        ", nodeName: n1, subdomain: web"),
                    R"(apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/region: r, failure-domain.beta.kubernetes.io/zone: z, topology.istio.io/subzone: s}}
)"));
  ASSERT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
  const model::Endpoint endpoint = mesh.Endpoints(kWeb)[0];
  EXPECT_EQ(endpoint.port_name, "http");
  EXPECT_EQ(endpoint.service_port, 0u);
  EXPECT_EQ(endpoint.health, Health::kHealthy);
  const model::Workload& workload = *endpoint.workload;
  EXPECT_EQ(workload.name, "web-1");
  EXPECT_EQ(workload.service_account, "spiffe://cluster.local/ns/default/sa/web");
  EXPECT_EQ(workload.locality, model::Locality::Parse("r/z/s"));
  EXPECT_EQ(workload.tls_mode, "istio");
  EXPECT_EQ(workload.hostname, "web-1");
  EXPECT_EQ(workload.subdomain, "web");
  EXPECT_EQ(LabelOr(workload.labels, "kubernetes.io/hostname"), "n1");
  EXPECT_EQ(LabelOr(workload.labels, "topology.kubernetes.io/zone"), "z");
  EXPECT_EQ(LabelOr(workload.labels, "topology.istio.io/cluster"), "Kubernetes");
  EXPECT_THAT(mesh.Shards(kWeb)->service_accounts, ElementsAre("spiffe://cluster.local/ns/default/sa/web"));
}

TEST(SliceEndpoints, APodsOwnLocalityLabelBeatsItsNode) {
  TestMesh mesh;
  mesh.Apply(StrCat(
      kService, Slice("web-1", At("10.0.0.1", "web-1")),
      Pod("web-1", "10.0.0.1", ", labels: {istio-locality: r2.z2}", ", nodeName: n1"),
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/region: r}}\n"));
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->locality_label, "r2/z2");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->locality, model::Locality::Parse("r2/z2"));
}

TEST(SliceEndpoints, ANodesLabelsReachItsPods) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", At("10.0.0.1", "web-1")),
                    Pod("web-1", "10.0.0.1", "", ", nodeName: n1")));
  EXPECT_TRUE(mesh.Endpoints(kWeb)[0].workload->locality.empty());
  mesh.Apply(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {topology.kubernetes.io/region: r}}\n");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->locality.region, "r");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->locality_label, "r//");
  EXPECT_THAT(mesh.output().changes.endpoints, ElementsAre(model::ServiceKey(kWeb, "default")));
}

TEST(SliceEndpoints, WaitForThePodThatTheyName) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", At("10.0.0.1", "web-1"))));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
  EXPECT_THAT(mesh.DiagnosticCodes(), ElementsAre("missing-pod"));
  mesh.Apply(Pod("web-1", "10.0.0.1"));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
  EXPECT_TRUE(mesh.DiagnosticCodes().empty());
  mesh.Delete(config::Kind::kPod, "default", "web-1");
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
}

TEST(SliceEndpoints, WithoutTargetAReadyPodOfTheNamespaceIsGuessedByAddress) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", "{addresses: [10.0.0.1]}")));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->service_account, "");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->tls_mode, "disabled");
  mesh.Apply(Pod("web-1", "10.0.0.1", "", "", "False"));
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->name, "");
  mesh.Apply(Pod("web-1", "10.0.0.1"));
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].workload->name, "web-1");
}

TEST(SliceEndpoints, OfAServiceThatIsExportedToNobodyAreNone) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", "{addresses: [10.0.0.1]}")));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
  mesh.Apply(ReplaceAll(kService, "namespace: default",
                        "namespace: default, annotations: {networking.istio.io/exportTo: \"~\"}"));
  EXPECT_EQ(mesh.Addresses(kWeb), "");
  mesh.Apply(kService);
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
}

TEST(SliceEndpoints, OfAServiceThatTheMeshHidesByDefaultAreThere) {
  TestMesh mesh;
  mesh.SetSettings(R"({"defaultServiceExportTo": ["~"]})", "{}");
  mesh.Apply(StrCat(kService, Slice("web-1", "{addresses: [10.0.0.1]}")));
  EXPECT_EQ(mesh.Service(kWeb)->visibility, (model::Visibility{false, {}}));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
}

TEST(SliceEndpoints, HealthOfConditions) {
  const auto health = [](std::string_view conditions, std::string_view service_labels = "") {
    TestMesh mesh;
    mesh.Apply(
        StrCat(ReplaceAll(kService, "namespace: default", StrCat("namespace: default", service_labels)),
               Slice("web-1", At("10.0.0.1", "web-1", conditions)), Pod("web-1", "10.0.0.1")));
    return mesh.Endpoints(kWeb)[0].health;
  };
  EXPECT_EQ(health(""), Health::kHealthy);
  EXPECT_EQ(health("ready: false, serving: false, terminating: false"), Health::kUnhealthy);
  EXPECT_EQ(health("ready: false, serving: true, terminating: true"), Health::kTerminating);
  EXPECT_EQ(health("ready: false"), Health::kTerminating) << "conditions that are not set count as true";
  constexpr std::string_view kSticky = ", labels: {istio.io/persistent-session: cookie}";
  EXPECT_EQ(health("ready: false, serving: true, terminating: true", kSticky), Health::kDraining);
  EXPECT_EQ(health("ready: false, serving: false, terminating: true", kSticky), Health::kTerminating);
}

TEST(SliceEndpoints, OfSeveralSlicesAreJoinedAndAnAddressCountsOnce) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService,
                    Slice("web-b", StrCat(At("10.0.0.2", "b"), ",", At("10.0.0.1", "a", "ready: false"))),
                    Slice("web-a", At("10.0.0.1", "a")), Pod("a", "10.0.0.1"), Pod("b", "10.0.0.2")));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 10.0.0.2:8080");
  EXPECT_EQ(mesh.Endpoints(kWeb)[0].health, Health::kHealthy) << "the first slice by name says";
  mesh.Delete(config::Kind::kEndpointSlice, "default", "web-a");
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.2:8080 10.0.0.1:8080");
}

TEST(SliceEndpoints, ASliceMayMoveToAnotherService) {
  TestMesh mesh;
  const std::string slice = Slice("s", "{addresses: [10.0.0.1]}");
  mesh.Apply(StrCat(kService, slice));
  mesh.Apply(ReplaceAll(slice, "service-name: web", "service-name: api"));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
  EXPECT_EQ(mesh.Addresses("api.default.svc.cluster.local"), "10.0.0.1:8080");
}

TEST(SliceEndpoints, EndpointsCountWhereThereIsNoSlice) {
  constexpr std::string_view kEndpoints = R"(
apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: default}
subsets:
- addresses: [{ip: 10.0.0.1}]
  notReadyAddresses: [{ip: 10.0.0.2, targetRef: {kind: Pod, namespace: default, name: web-2}}]
  ports: [{name: http, port: 8080}]
- addresses: [{ip: 10.0.0.3}]
  ports: [{name: http, port: 9080}]
)";
  TestMesh mesh;
  mesh.Apply(StrCat(kService, kEndpoints));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 10.0.0.3:9080");
  EXPECT_THAT(mesh.DiagnosticCodes(), ElementsAre("missing-pod"));
  mesh.Apply(Pod("web-2", "10.0.0.2"));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:9080");
  EXPECT_EQ(mesh.Endpoints(kWeb)[1].health, Health::kUnhealthy);
  mesh.Delete(config::Kind::kPod, "default", "web-2");
  mesh.Apply(Slice("web-1", "{addresses: [10.0.0.9]}"));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.9:8080");
  EXPECT_TRUE(mesh.DiagnosticCodes().empty()) << "what does not count is not complained about";
  mesh.Delete(config::Kind::kEndpointSlice, "default", "web-1");
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 10.0.0.3:9080");
}

TEST(SliceEndpoints, ForeignAndFqdnSlicesDoNotCount) {
  TestMesh mesh;
  const std::string slice = Slice("s", "{addresses: [10.0.0.1]}");
  mesh.Apply(StrCat(kService, ReplaceAll(slice, "service-name: web",
                                         "service-name: web, multicluster.kubernetes.io/service-name: web")));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
  mesh.Apply(StrCat(kService, ReplaceAll(ReplaceAll(slice, "IPv4", "FQDN"), "10.0.0.1", "a.example.com")));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
  EXPECT_THAT(mesh.DiagnosticCodes(), ElementsAre("fqdn-slice"));
}

TEST(SliceEndpoints, FailedPodsAreNone) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", At("10.0.0.1", "web-1")),
                    ReplaceAll(Pod("web-1", "10.0.0.1"), "Running", "Failed")));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
}

TEST(SliceEndpoints, AChangeTouchesItsOwnServiceAlone) {
  TestMesh mesh;
  mesh.Apply(StrCat(
      kService, ReplaceAll(kService, "name: web", "name: api"), Slice("web-1", "{addresses: [10.0.0.1]}"),
      ReplaceAll(Slice("api-1", "{addresses: [10.0.0.2]}"), "service-name: web", "service-name: api")));
  const auto api = mesh.Shards("api.default.svc.cluster.local");
  const model::ServicePtr service = mesh.Service(kWeb);
  mesh.Apply(Slice("web-1", "{addresses: [10.0.0.3]}"));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.3:8080");
  EXPECT_EQ(mesh.Shards("api.default.svc.cluster.local"), api);
  EXPECT_EQ(mesh.Service(kWeb), service);
  EXPECT_THAT(mesh.output().changes.endpoints, ElementsAre(model::ServiceKey(kWeb, "default")));
  EXPECT_TRUE(mesh.output().changes.services.empty());
}

TEST(SliceEndpoints, AnnotationsOfAPodChangeNothing) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", At("10.0.0.1", "web-1")), Pod("web-1", "10.0.0.1")));
  const auto before = mesh.Shards(kWeb);
  mesh.Apply(Pod("web-1", "10.0.0.1", ", annotations: {a: b}"));
  EXPECT_EQ(mesh.Shards(kWeb), before);
  EXPECT_TRUE(mesh.output().changes.endpoints.empty());
  mesh.Apply(Pod("web-1", "10.0.0.1", ", labels: {version: v2}"));
  EXPECT_NE(mesh.Shards(kWeb), before);
}

TEST(PodWorkload, NameByController) {
  const auto name = [](std::string_view metadata) {
    TestMesh mesh;
    mesh.Apply(Pod("pod-x", "10.0.0.1", metadata));
    return (*mesh.output().workloads.begin())->workload->name.str();
  };
  const auto owned = [](std::string_view kind, std::string_view owner, std::string_view labels = "") {
    return StrCat(", generateName: x-, labels: {", labels,
                  "}, ownerReferences: [{apiVersion: v1, kind: ", kind, ", name: ", owner,
                  ", controller: true, uid: u}]");
  };
  EXPECT_EQ(name(""), "pod-x");
  EXPECT_EQ(name(owned("ReplicaSet", "web-6d8", "pod-template-hash: 6d8")), "web");
  EXPECT_EQ(name(owned("ReplicaSet", "web-6d8", "rollouts-pod-template-hash: 6d8")), "web");
  EXPECT_EQ(name(owned("ReplicaSet", "web-6d8")), "web-6d8");
  EXPECT_EQ(name(owned("StatefulSet", "db")), "db");
  EXPECT_EQ(name(owned("Job", "backup-28391040")), "backup");
  EXPECT_EQ(name(owned("Job", "backup-now")), "backup-now");
  EXPECT_EQ(name(owned("ReplicationController", "web-1", "deploymentconfig: web")), "web");
  EXPECT_EQ(name(owned("StatefulSet", "db", "service.istio.io/workload-name: mine")), "mine");
  EXPECT_EQ(name(ReplaceAll(owned("StatefulSet", "db"), ", generateName: x-", "")), "pod-x");
}

std::string Entry(std::string_view name, std::string_view spec) {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: ", name,
                ", namespace: default}\nspec: {labels: {app: web}, ", spec, "}\n---\n");
}

TEST(SelectedEntries, JoinAServicesPods) {
  TestMesh mesh;
  mesh.Apply(StrCat(kService, Slice("web-1", "{addresses: [10.0.0.1]}"),
                    Entry("vm-b", "address: 172.16.0.2, weight: 5"),
                    Entry("vm-a", "address: 172.16.0.1, ports: {http: 9090}"),
                    Entry("by-name", "address: vm.example.com")));
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 172.16.0.1:9090 172.16.0.2:8080");
  EXPECT_EQ(mesh.Endpoints(kWeb)[2].weight, 5u);
  EXPECT_EQ(mesh.Endpoints(kWeb)[2].health, Health::kUnknown);
  mesh.Delete(config::Kind::kWorkloadEntry, "default", "vm-a");
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080 172.16.0.2:8080");
}

TEST(SelectedEntries, NamedTargetPortsMustBeTheEntrys) {
  TestMesh mesh;
  mesh.Apply(StrCat(ReplaceAll(kService, "8080", "web"),
                    Entry("with", "address: 172.16.0.1, ports: {web: 7000}"),
                    Entry("without", "address: 172.16.0.2")));
  EXPECT_EQ(mesh.Addresses(kWeb), "172.16.0.1:7000");
}

TEST(SelectedEntries, NotOfHeadlessServices) {
  TestMesh mesh;
  mesh.Apply(StrCat(ReplaceAll(kService, "10.96.0.1", "None"), Entry("vm", "address: 172.16.0.1")));
  EXPECT_EQ(mesh.Shards(kWeb), nullptr);
}

constexpr std::string_view kDualService = R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1, "fd00::1"], selector: {app: web}, ports: [{name: http, port: 80}]}
---
)";

std::string DualPod(std::string_view ip, std::string_view second) {
  return ReplaceAll(Pod("web-1", ip), StrCat("podIP: ", ip, ","),
                    StrCat("podIP: ", ip, ", podIPs: [{ip: ", ip, "}, {ip: \"", second, "\"}],"));
}

class DualStack : public testing::Test {
 protected:
  void Enable() {
    auto settings = std::make_shared<model::Settings>();
    settings->mesh = model::DefaultMeshConfig();
    settings->networks = std::make_shared<const istio::mesh::v1alpha1::MeshNetworks>();
    settings->features.dual_stack = true;
    mesh_.SetSettings(settings);
  }
  void Apply(std::string_view service) {
    std::string six = Slice("web-6", At("\"fd00::2:1\"", "web-1"));
    six = ReplaceAll(six, "addressType: IPv4", "addressType: IPv6");
    mesh_.Apply(
        StrCat(service, Slice("web-4", At("10.0.0.1", "web-1")), six, DualPod("10.0.0.1", "fd00::2:1")));
  }
  TestMesh mesh_;
};

TEST_F(DualStack, APodOfBothFamiliesIsOneEndpoint) {
  Enable();
  Apply(kDualService);
  ASSERT_EQ(mesh_.Addresses(kWeb), "10.0.0.1:8080");
  EXPECT_THAT(mesh_.Endpoints(kWeb)[0].addresses, ElementsAre("10.0.0.1", "fd00::2:1"));
}

TEST_F(DualStack, OfAServiceOfOneFamilyEveryAddressIsAnEndpoint) {
  Enable();
  Apply(kService);
  EXPECT_EQ(mesh_.Addresses(kWeb), "10.0.0.1:8080 fd00::2:1:8080");
}

TEST_F(DualStack, UnlessItIsOnEveryAddressIsAnEndpoint) {
  Apply(kDualService);
  EXPECT_EQ(mesh_.Addresses(kWeb), "10.0.0.1:8080 fd00::2:1:8080");
}

TEST_F(DualStack, EndpointsFollowTheirPodsAddresses) {
  Enable();
  Apply(kDualService);
  mesh_.Apply(DualPod("10.0.0.1", "fd00::2:9"));
  EXPECT_THAT(mesh_.Endpoints(kWeb)[0].addresses, ElementsAre("10.0.0.1", "fd00::2:9"));
}

TEST(Workloads, ListPodsAndHealthyEntries) {
  TestMesh mesh;
  mesh.Apply(StrCat(Pod("web-1", "10.0.0.1", "", ", hostNetwork: true", "False"),
                    Entry("vm", "address: 172.16.0.1")));
  ASSERT_EQ(mesh.output().workloads.size(), 2u);
  const bool pod_first = (*mesh.output().workloads.begin())->name == "web-1";
  const model::WorkloadInstance& pod =
      **(pod_first ? mesh.output().workloads.begin() : std::next(mesh.output().workloads.begin()));
  EXPECT_THAT(pod.addresses, ElementsAre("10.0.0.1"));
  EXPECT_FALSE(pod.ready);
  EXPECT_TRUE(pod.host_network);
  EXPECT_EQ(pod.sources[0]->kind(), config::Kind::kPod);
  mesh.Delete(config::Kind::kPod, "default", "web-1");
  ASSERT_EQ(mesh.output().workloads.size(), 1u);
  EXPECT_EQ((*mesh.output().workloads.begin())->name, "vm");
}

}  // namespace
}  // namespace fairlead::registry
