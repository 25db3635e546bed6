#include "gmock/gmock.h"
#include "registry/test_mesh.h"

namespace fairlead::registry {
namespace {

using model::Health;
using model::Resolution;
using testing::ElementsAre;

std::string Entry(std::string_view name, std::string_view spec, std::string_view metadata = "",
                  std::string_view ports = "[{number: 80, name: http, protocol: HTTP}]") {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: ", name, metadata,
                metadata.find("namespace:") == std::string_view::npos ? ", namespace: default" : "",
                "}\nspec: {ports: ", ports, ", ", spec, "}\n---\n");
}
std::string WorkloadEntry(std::string_view name, std::string_view spec, std::string_view metadata = "") {
  return StrCat("apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: ", name,
                ", namespace: default", metadata, "}\nspec: {", spec, "}\n---\n");
}
constexpr std::string_view kHost = "api.example.com";
constexpr std::string_view kStatic = "hosts: [api.example.com], resolution: STATIC";

TEST(ServiceEntryServices, OneForEachHostAndAddress) {
  TestMesh mesh;
  mesh.Apply(
      Entry("e",
            "hosts: [a.example.com, b.example.com], resolution: STATIC, addresses: [192.0.2.1, 192.0.2.2/32, "
            "10.0.0.0/8, '2001:db8::/64']"));
  std::vector<std::string> found;
  for (const auto& service : mesh.output().services)
    found.push_back(StrCat(service->hostname.str(), " ", service->address));
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         "a.example.com 192.0.2.1", "a.example.com 192.0.2.2", "a.example.com 10.0.0.0/8",
                         "a.example.com 2001:db8::/64", "b.example.com 192.0.2.1", "b.example.com 192.0.2.2",
                         "b.example.com 10.0.0.0/8", "b.example.com 2001:db8::/64"));
}

TEST(ServiceEntryServices, FieldsOfTheEntry) {
  TestMesh mesh;
  mesh.Apply(Entry(
      "e", "hosts: [api.example.com], resolution: DNS, location: MESH_INTERNAL, subjectAltNames: [b, a]",
      ", labels: {team: x}", "[{number: 443, name: tls, protocol: TLS, targetPort: 8443}]"));
  const model::ServicePtr service = mesh.Service(kHost);
  EXPECT_EQ(service->registry, model::Registry::kExternal);
  EXPECT_EQ(service->name, kHost);
  EXPECT_EQ(service->address, "0.0.0.0");
  EXPECT_FALSE(service->mesh_external);
  EXPECT_EQ(service->resolution, Resolution::kDnsLb);
  EXPECT_EQ(service->labels, (LabelMap{{"team", "x"}}));
  EXPECT_THAT(service->service_accounts, ElementsAre("a", "b"));
  EXPECT_EQ(service->ports[0].protocol, model::Protocol::kTls);
  EXPECT_EQ(service->ports[0].target_port, 8443u);
}

TEST(ServiceEntryServices, Resolutions) {
  const auto resolution = [](std::string_view text) {
    TestMesh mesh;
    mesh.Apply(Entry("e", StrCat("hosts: [api.example.com], resolution: ", text)));
    return mesh.Service(kHost)->resolution;
  };
  EXPECT_EQ(resolution("NONE"), Resolution::kPassthrough);
  EXPECT_EQ(resolution("STATIC"), Resolution::kClientSideLb);
  EXPECT_EQ(resolution("DNS"), Resolution::kDnsLb);
  EXPECT_EQ(resolution("DNS_ROUND_ROBIN"), Resolution::kDnsRoundRobinLb);
  EXPECT_EQ(resolution("DYNAMIC_DNS"), Resolution::kDynamicDns);
}

TEST(ServiceEntryServices, AllocatedAddressesOfTheStatus) {
  constexpr std::string_view kStatus =
      "status: {addresses: [{host: api.example.com, value: 240.240.0.9}, {host: api.example.com, value: "
      "'2001:2::9'}, "
      "{host: other.example.com, value: 240.240.0.1}]}\n";
  const auto v4 = [&](std::string_view spec, std::string_view metadata = "") {
    TestMesh mesh;
    mesh.Apply(ReplaceAll(Entry("e", spec, metadata), "---\n", kStatus));
    return mesh.Service(kHost)->auto_allocated_ipv4;
  };
  EXPECT_EQ(v4(kStatic), "240.240.0.9");
  EXPECT_EQ(v4(StrCat(kStatic, ", addresses: [192.0.2.1]")), "") << "the entry has an address of its own";
  EXPECT_EQ(v4("hosts: [api.example.com], resolution: NONE"), "");
  EXPECT_EQ(v4(kStatic, ", labels: {networking.istio.io/enable-autoallocate-ip: 'False'}"), "");
  TestMesh mesh;
  mesh.Apply(ReplaceAll(Entry("e", kStatic), "---\n", kStatus));
  EXPECT_EQ(mesh.Service(kHost)->auto_allocated_ipv6, "2001:2::9");
}

TEST(ServiceEntryServices, VisibilityCappedByTheMesh) {
  const auto visibility = [](std::string_view export_to, const std::string& settings) {
    TestMesh mesh;
    mesh.SetSettings(settings, "{}");
    mesh.Apply(Entry("e", StrCat(kStatic, ", exportTo: [", export_to, "]")));
    return mesh.Service(kHost)->visibility;
  };
  const std::string own =
      R"({"serviceEntryVisibility": {"defaultVisibility": "NAMESPACE", "applyToSidecars": true}})";
  EXPECT_EQ(visibility("beta", "{}"), (model::Visibility{false, {"beta"}}));
  EXPECT_EQ(visibility("'*'", own), (model::Visibility{false, {"default"}}));
  EXPECT_EQ(visibility("beta, default", own), (model::Visibility{false, {"default"}}));
  EXPECT_EQ(visibility("beta", own), (model::Visibility{false, {}}));
  EXPECT_EQ(visibility("'~'", own), (model::Visibility{false, {}}));
  EXPECT_EQ(visibility("'*'", R"({"serviceEntryVisibility": {"defaultVisibility": "NONE"}})"),
            model::Visibility())
      << "without applyToSidecars it is not for sidecars";
  EXPECT_EQ(
      visibility("'*'",
                 R"({"serviceEntryVisibility": {"defaultVisibility": "NONE", "applyToSidecars": true}})"),
      (model::Visibility{false, {}}));
}

TEST(ServiceEntryEndpoints, PortOfTheEndpointThenTargetPortThenNumber) {
  TestMesh mesh;
  mesh.Apply(Entry("e",
                   StrCat(kStatic,
                          ", endpoints: [{address: 192.0.2.1, ports: {http: 8081}}, {address: 192.0.2.2}, "
                          "{address: 'unix:///var/run/a.sock'}]"),
                   "",
                   "[{number: 80, name: http, protocol: HTTP, targetPort: 8080}, {number: 90, name: tcp, "
                   "protocol: TCP}]"));
  EXPECT_EQ(mesh.Addresses(kHost),
            "192.0.2.1:8081 192.0.2.1:90 192.0.2.2:8080 192.0.2.2:90 /var/run/a.sock:0 /var/run/a.sock:0");
  EXPECT_EQ(mesh.Endpoints(kHost)[1].service_port, 90u);
  EXPECT_EQ(mesh.Endpoints(kHost)[1].port_name, "tcp");
  EXPECT_EQ(mesh.Endpoints(kHost)[1].health, Health::kUnknown);
}

TEST(ServiceEntryEndpoints, WorkloadOfTheEndpoint) {
  TestMesh mesh;
  mesh.Apply(
      Entry("e", StrCat(kStatic,
                        ", endpoints: [{address: 192.0.2.1, serviceAccount: vm, weight: 7, network: n2, "
                        "locality: r/z/, labels: {app: a}}, {address: 192.0.2.2, labels: "
                        "{istio-locality: r2.z2}}, {address: 192.0.2.3, serviceAccount: vm, labels: "
                        "{security.istio.io/tlsMode: disabled}}]")));
  const auto endpoints = mesh.Endpoints(kHost);
  const model::Workload& first = *endpoints[0].workload;
  EXPECT_EQ(first.name, "e-0");
  EXPECT_EQ(first.ns, "default");
  EXPECT_EQ(first.service_account, "spiffe://cluster.local/ns/default/sa/vm");
  EXPECT_EQ(first.tls_mode, "istio") << "an identity lets one expect a sidecar";
  EXPECT_EQ(first.network, "n2");
  EXPECT_EQ(first.locality, model::Locality::Parse("r/z"));
  EXPECT_EQ(first.locality_label, "r/z/") << "as it is written";
  EXPECT_EQ(LabelOr(first.labels, "topology.istio.io/network"), "n2");
  EXPECT_EQ(endpoints[0].weight, 7u);
  EXPECT_EQ(endpoints[1].workload->tls_mode, "disabled");
  EXPECT_EQ(endpoints[1].workload->locality, model::Locality::Parse("r2/z2"));
  EXPECT_EQ(endpoints[2].workload->tls_mode, "disabled");
  EXPECT_THAT(mesh.Shards(kHost)->service_accounts, ElementsAre("spiffe://cluster.local/ns/default/sa/vm"));
}

TEST(ServiceEntryEndpoints, TheNetworkIsWhatTheEntrySays) {
  TestMesh mesh;
  mesh.SetSettings("{}", R"({"networks": {"here": {"endpoints": [{"fromRegistry": "Kubernetes"}]}}})");
  mesh.Apply(Entry("e", StrCat(kStatic, ", endpoints: [{address: 192.0.2.1}]")));
  EXPECT_EQ(mesh.Endpoints(kHost)[0].workload->network, "");
}

TEST(ServiceEntryEndpoints, HostsOfDnsEntriesAreTheirOwnEndpoints) {
  TestMesh mesh;
  mesh.Apply(Entry("e", "hosts: [a.example.com, b.example.com], resolution: DNS"));
  EXPECT_EQ(mesh.Addresses("a.example.com"), "a.example.com:80");
  EXPECT_EQ(mesh.Addresses("b.example.com"), "b.example.com:80");
  EXPECT_EQ(mesh.Endpoints("a.example.com")[0].workload->name, "e");
  EXPECT_TRUE(mesh.Endpoints("a.example.com")[0].workload->labels.empty());
  mesh.Apply(Entry("e", "hosts: [a.example.com], resolution: DYNAMIC_DNS"));
  EXPECT_EQ(mesh.Shards("a.example.com"), nullptr);
  EXPECT_EQ(mesh.Shards("b.example.com"), nullptr);
}

TEST(ServiceEntryEndpoints, RoundRobinTakesOneEndpointAPort) {
  TestMesh mesh;
  mesh.Apply(
      Entry("e",
            "hosts: [api.example.com], resolution: DNS_ROUND_ROBIN, endpoints: [{address: a.example.com}, "
            "{address: b.example.com}]",
            "", "[{number: 80, name: http, protocol: HTTP}, {number: 81, name: http2, protocol: HTTP2}]"));
  EXPECT_EQ(mesh.Addresses(kHost), "a.example.com:80 a.example.com:81");
}

TEST(ServiceEntryEndpoints, EntriesForOneHostJoinOlderFirst) {
  TestMesh mesh;
  mesh.Apply(
      StrCat(Entry("a-new", StrCat(kStatic, ", endpoints: [{address: 192.0.2.2}]"),
                   ", creationTimestamp: '2024-02-01T00:00:00Z'"),
             Entry("b-old", StrCat(kStatic, ", endpoints: [{address: 192.0.2.1}]"),
                   ", creationTimestamp: '2024-01-01T00:00:00Z'"),
             Entry("a", StrCat(kStatic, ", endpoints: [{address: 192.0.2.9}]"), ", namespace: other")));
  EXPECT_EQ(mesh.Addresses(kHost), "192.0.2.1:80 192.0.2.2:80");
  EXPECT_EQ(mesh.Addresses(kHost, "other"), "192.0.2.9:80");
  EXPECT_EQ(mesh.output().services.size(), 3u);
}

constexpr std::string_view kSelecting =
    "hosts: [api.example.com], resolution: STATIC, workloadSelector: {labels: {app: vm}}";
constexpr std::string_view kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: default, labels: {app: vm}}
spec: {serviceAccountName: p, containers: [{name: c, image: i, ports: [{name: http, containerPort: 9000}]}]}
status: {phase: Running, podIP: 10.0.0.1, conditions: [{type: Ready, status: "True"}]}
---
)";

TEST(ServiceEntrySelector, TakesReadyPodsThenHealthyEntriesByName) {
  TestMesh mesh;
  mesh.Apply(StrCat(Entry("e", kSelecting), WorkloadEntry("b", "address: 172.16.0.2, labels: {app: vm}"),
                    WorkloadEntry("a", "address: 172.16.0.1", ", labels: {app: vm}"), kPod,
                    WorkloadEntry("other", "address: 172.16.0.3, labels: {app: other}")));
  EXPECT_EQ(mesh.Addresses(kHost), "10.0.0.1:9000 172.16.0.1:80 172.16.0.2:80");
  EXPECT_EQ(mesh.Endpoints(kHost)[0].health, Health::kHealthy);
  EXPECT_EQ(mesh.Endpoints(kHost)[0].workload->service_account, "spiffe://cluster.local/ns/default/sa/p");
  mesh.Apply(ReplaceAll(kPod, "\"True\"", "\"False\""));
  EXPECT_EQ(mesh.Addresses(kHost), "172.16.0.1:80 172.16.0.2:80");
  EXPECT_THAT(mesh.output().changes.endpoints, ElementsAre(model::ServiceKey(kHost, "default")));
}

TEST(ServiceEntrySelector, PodsMayBeLeftAlone) {
  auto settings = std::make_shared<model::Settings>();
  settings->mesh = model::DefaultMeshConfig();
  settings->networks = std::make_shared<const istio::mesh::v1alpha1::MeshNetworks>();
  settings->features.entries_select_pods = false;
  TestMesh mesh;
  mesh.SetSettings(settings);
  mesh.Apply(
      StrCat(Entry("e", kSelecting), WorkloadEntry("vm", "address: 172.16.0.1, labels: {app: vm}"), kPod));
  EXPECT_EQ(mesh.Addresses(kHost), "172.16.0.1:80");
}

TEST(ServiceEntrySelector, EntriesUnderHealthChecksMustBeHealthy) {
  const std::string checked = ", annotations: {proxy.istio.io/health-checks-enabled: 'true'}";
  const auto entry = [&](std::string_view status) {
    return ReplaceAll(WorkloadEntry("vm", "address: 172.16.0.1, labels: {app: vm}", checked), "---\n",
                      status);
  };
  TestMesh mesh;
  mesh.Apply(StrCat(Entry("e", kSelecting), entry("")));
  EXPECT_EQ(mesh.Shards(kHost), nullptr);
  mesh.Apply(entry("status: {conditions: [{type: Healthy, status: 'True'}]}\n"));
  EXPECT_EQ(mesh.Addresses(kHost), "172.16.0.1:80");
  mesh.Apply(entry("status: {conditions: [{type: Healthy, status: 'False'}]}\n"));
  EXPECT_EQ(mesh.Shards(kHost), nullptr);
  EXPECT_TRUE(mesh.output().workloads.empty());
}

TEST(ServiceEntrySelector, NamesAndPathsAreForDnsAlone) {
  TestMesh mesh;
  const std::string by_name = WorkloadEntry("vm", "address: vm.example.com, labels: {app: vm}");
  mesh.Apply(StrCat(Entry("e", kSelecting), by_name));
  EXPECT_EQ(mesh.Shards(kHost), nullptr);
  mesh.Apply(Entry("e", ReplaceAll(kSelecting, "STATIC", "DNS")));
  EXPECT_EQ(mesh.Addresses(kHost), "vm.example.com:80");
}

TEST(WorkloadEntries, NameAndLabels) {
  TestMesh mesh;
  mesh.Apply(WorkloadEntry("vm", "address: 172.16.0.1, labels: {app: spec, only: spec}",
                           ", labels: {app: meta, service.istio.io/workload-name: mine}"));
  const model::Workload& workload = *(*mesh.output().workloads.begin())->workload;
  EXPECT_EQ(workload.name, "mine");
  EXPECT_EQ(LabelOr(workload.labels, "app"), "meta");
  EXPECT_EQ(LabelOr(workload.labels, "only"), "spec");
  mesh.Apply(
      WorkloadEntry("vm", "address: 172.16.0.1", ", annotations: {istio.io/autoRegistrationGroup: g}"));
  EXPECT_EQ((*mesh.output().workloads.begin())->workload->name, "g");
}

TEST(ExternalTargets, SayWhatIsServedAtAnAddress) {
  TestMesh mesh;
  mesh.Apply(StrCat(Entry("e", StrCat(kSelecting, ", addresses: [192.0.2.1]"), "",
                          "[{number: 80, name: http, protocol: HTTP, targetPort: 8080}]"),
                    WorkloadEntry("a", "address: 172.16.0.1, labels: {app: vm}")));
  const model::ExternalTargets targets = **mesh.output().external_targets.Find(Interned("172.16.0.1"));
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].service, mesh.Service(kHost));
  EXPECT_EQ(targets[0].port->port, 80u);
  EXPECT_EQ(targets[0].target_port, 8080u);
  const auto before = *mesh.output().external_targets.Find(Interned("172.16.0.1"));
  mesh.Apply(WorkloadEntry("b", "address: 172.16.0.2, labels: {app: vm}"));
  EXPECT_EQ(*mesh.output().external_targets.Find(Interned("172.16.0.1")), before) << "it is as it was";
  EXPECT_NE(mesh.output().external_targets.Find(Interned("172.16.0.2")), nullptr);
  mesh.Delete(config::Kind::kServiceEntry, "default", "e");
  EXPECT_TRUE(mesh.output().external_targets.empty());
}

TEST(HostConflict, EndpointsOfBothAreJoinedExternalFirst) {
  TestMesh mesh;
  constexpr std::string_view kWeb = "web.default.svc.cluster.local";
  mesh.Apply(StrCat(
      R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.0.0.1]}]
---
)",
      Entry("squat", StrCat("hosts: [", kWeb, "], resolution: STATIC, endpoints: [{address: 192.0.2.1}]"))));
  EXPECT_EQ(mesh.Addresses(kWeb), "192.0.2.1:80 10.0.0.1:8080");
  EXPECT_THAT(mesh.DiagnosticCodes(), ElementsAre("host-conflict"));
  mesh.Delete(config::Kind::kServiceEntry, "default", "squat");
  EXPECT_EQ(mesh.Addresses(kWeb), "10.0.0.1:8080");
  EXPECT_TRUE(mesh.DiagnosticCodes().empty());
}

TEST(ServiceEntry, AChangedEndpointKeepsTheOthersWorkloads) {
  TestMesh mesh;
  const std::string entry =
      Entry("e", StrCat(kStatic, ", endpoints: [{address: 192.0.2.1}, {address: 192.0.2.2}]"));
  mesh.Apply(entry);
  const auto before = mesh.Endpoints(kHost);
  mesh.Apply(ReplaceAll(entry, "192.0.2.2", "192.0.2.3"));
  EXPECT_EQ(mesh.Endpoints(kHost)[0].workload, before[0].workload);
  EXPECT_EQ(mesh.Addresses(kHost), "192.0.2.1:80 192.0.2.3:80");
}

}  // namespace
}  // namespace fairlead::registry
