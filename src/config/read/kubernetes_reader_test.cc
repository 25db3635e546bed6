#include "config/read/kubernetes_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "config/read/manifests.h"

namespace fairlead::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Mistakes(std::string_view text) {
  std::vector<std::string> texts;
  for (const Diagnostic& diagnostic : ParseManifests(text, "f").diagnostics)
    texts.push_back(ToText(diagnostic));
  return texts;
}

template <typename Spec>
Spec Read(std::string_view text) {
  const ParseResult result = ParseManifests(text, "f");
  EXPECT_THAT(Mistakes(text), IsEmpty());
  return result.objects.size() == 1 ? result.objects[0]->Spec<Spec>() : Spec();
}

std::string ServiceText(std::string_view spec) {
  return StrCat("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: ", spec, "}");
}

TEST(KubernetesServiceTest, FillsInWhatAnApiServerWould) {
  const auto service =
      Read<ServiceSpec>(ServiceText("{clusterIP: 10.0.0.1, selector: {app: a}, ports: [{port: 80}]}"));
  EXPECT_EQ(service.type, "ClusterIP");
  EXPECT_THAT(service.cluster_ips, ElementsAre("10.0.0.1"));
  EXPECT_EQ(service.selector.at("app"), "a");
  ASSERT_EQ(service.ports.size(), 1u);
  EXPECT_EQ(service.ports[0].protocol, "TCP");
  EXPECT_EQ(service.ports[0].target_port.number, 80);
  EXPECT_EQ(service.ports[0].target_port.name, "");
  EXPECT_EQ(service.ports[0].app_protocol, std::nullopt);
  EXPECT_EQ(service.session_affinity, "None");
  EXPECT_EQ(service.session_affinity_timeout_seconds, std::nullopt);
  EXPECT_EQ(service.internal_traffic_policy, "Cluster");
  EXPECT_EQ(service.external_traffic_policy, "");
}

TEST(KubernetesServiceTest, ReadsEveryField) {
  const ParseResult result = ParseManifests(R"(
apiVersion: v1
kind: Service
metadata: {name: a, namespace: b, annotations: {x: "1"}}
spec:
  type: LoadBalancer
  clusterIPs: [10.0.0.1, "fd00::1"]
  externalIPs: [1.2.3.4]
  ipFamilies: [IPv4, IPv6]
  ipFamilyPolicy: RequireDualStack
  loadBalancerIP: 5.6.7.8
  publishNotReadyAddresses: true
  sessionAffinity: ClientIP
  trafficDistribution: PreferClose
  internalTrafficPolicy: Local
  ports:
  - {name: http, port: 80, targetPort: web, appProtocol: http2, nodePort: 30080}
  - {name: dns, port: 53, targetPort: 5353, protocol: UDP}
status: {loadBalancer: {ingress: [{ip: 9.9.9.9}, {hostname: lb.example.com}]}}
)",
                                            "f");
  ASSERT_EQ(result.objects.size(), 1u);
  const auto& service = result.objects[0]->Spec<ServiceSpec>();
  EXPECT_EQ(service.cluster_ip, "10.0.0.1");
  EXPECT_THAT(service.external_ips, ElementsAre("1.2.3.4"));
  EXPECT_THAT(service.ip_families, ElementsAre("IPv4", "IPv6"));
  EXPECT_EQ(service.load_balancer_ip, "5.6.7.8");
  EXPECT_TRUE(service.publish_not_ready_addresses);
  EXPECT_EQ(service.session_affinity_timeout_seconds, 10800);
  EXPECT_EQ(service.traffic_distribution, "PreferClose");
  EXPECT_EQ(service.internal_traffic_policy, "Local");
  EXPECT_EQ(service.external_traffic_policy, "Cluster");
  EXPECT_EQ(service.ports[0].target_port.name, "web");
  EXPECT_EQ(service.ports[0].app_protocol, "http2");
  EXPECT_EQ(service.ports[0].node_port, 30080);
  EXPECT_EQ(service.ports[1].protocol, "UDP");
  EXPECT_EQ(service.load_balancer_ingress[0].ip, "9.9.9.9");
  EXPECT_EQ(service.load_balancer_ingress[1].hostname, "lb.example.com");
}

TEST(KubernetesServiceTest, SaysWhatIsWrong) {
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{port: 0}]}")),
              ElementsAre(HasSubstr("spec.ports[0].port: 0 is no port: from 1 to 65535")));
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{port: 70000, targetPort: 0}]}")),
              ElementsAre(HasSubstr("70000 is no port")));
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{name: a}]}")),
              ElementsAre(HasSubstr("spec.ports[0]: port is missing")));
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{port: '80'}]}")),
              ElementsAre(HasSubstr("spec.ports[0].port: expected an integer, got string \"80\"")));
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{port: 80, protocol: HTTP}]}")),
              ElementsAre(HasSubstr("unknown protocol HTTP")));
  EXPECT_THAT(Mistakes(ServiceText("{type: Cluster}")),
              ElementsAre(HasSubstr("spec.type: unknown type Cluster")));
  EXPECT_THAT(Mistakes(ServiceText("{ports: [{port: 80, targetPort: 1.5}]}")),
              ElementsAre(HasSubstr("expected an integer or a string")));
  EXPECT_THAT(Mistakes(ServiceText("{selector: {version: 1}}")),
              ElementsAre(HasSubstr("spec.selector.version: expected a string, got integer 1")));
  EXPECT_THAT(Mistakes(ServiceText("{clusterIp: 1.2.3.4}")),
              ElementsAre(HasSubstr("did you mean \"clusterIP\"?")));
  EXPECT_THAT(Mistakes(ServiceText("[]")), ElementsAre(HasSubstr("spec: expected a mapping, got list")));
}

TEST(KubernetesEndpointSliceTest, ReadsEndpoints) {
  const auto slice = Read<EndpointSliceSpec>(R"(
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: a}
addressType: IPv4
endpoints:
- addresses: [10.0.0.1]
  conditions: {ready: false, terminating: true}
  nodeName: node
  zone: zone-a
  hostname: h
  targetRef: {kind: Pod, name: p, namespace: shop}
  hints: {forZones: [{name: zone-a}]}
- addresses: [10.0.0.2]
ports: [{name: http, port: 8080, appProtocol: null}, {}]
)");
  ASSERT_EQ(slice.endpoints.size(), 2u);
  EXPECT_EQ(slice.endpoints[0].ready, false);
  EXPECT_EQ(slice.endpoints[0].serving, std::nullopt);
  EXPECT_EQ(slice.endpoints[0].terminating, true);
  EXPECT_EQ(slice.endpoints[0].zone, "zone-a");
  EXPECT_EQ(slice.endpoints[0].target->name, "p");
  EXPECT_EQ(slice.endpoints[1].ready, std::nullopt);
  EXPECT_EQ(slice.endpoints[1].target.has_value(), false);
  ASSERT_EQ(slice.ports.size(), 2u);
  EXPECT_EQ(slice.ports[0].port, 8080);
  EXPECT_EQ(slice.ports[0].protocol, "TCP");
  EXPECT_EQ(slice.ports[1].port, std::nullopt);
}

TEST(KubernetesEndpointSliceTest, ReadsTheBetaVersion) {
  const auto slice = Read<EndpointSliceSpec>(R"(
apiVersion: discovery.k8s.io/v1beta1
kind: EndpointSlice
metadata: {name: a}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1], topology: {topology.kubernetes.io/zone: z, kubernetes.io/hostname: node}}]
)");
  EXPECT_EQ(slice.endpoints.at(0).zone, "z");
  EXPECT_EQ(slice.endpoints.at(0).node_name, "node");
}

constexpr std::string_view kEndpoints = R"(
apiVersion: v1
kind: Endpoints
metadata: {name: a, namespace: shop, labels: {app: a}}
subsets:
- addresses: [{ip: 10.0.0.1, nodeName: node, hostname: h, targetRef: {kind: Pod, name: p, namespace: shop}}]
  notReadyAddresses: [{ip: 10.0.0.2}]
  ports: [{name: http, port: 8080}, {name: dns, port: 53, protocol: UDP}]
- addresses: [{ip: "fd00::1"}]
  ports: [{name: http, port: 9080}]
)";

TEST(KubernetesEndpointsTest, AreReadAsTheSliceThatMirrorsThem) {
  const ParseResult result = ParseManifests(kEndpoints, "f");
  EXPECT_THAT(Mistakes(kEndpoints), IsEmpty());
  ASSERT_EQ(result.objects.size(), 1u);
  EXPECT_EQ(KeyOf(*result.objects[0]), (ObjectKey{Kind::kEndpointSlice, "shop", "a~endpoints"}));
  EXPECT_EQ(LabelOr(result.objects[0]->meta().labels, "kubernetes.io/service-name"), "a");
  EXPECT_EQ(LabelOr(result.objects[0]->meta().labels, "app"), "a");
  const auto& slice = result.objects[0]->Spec<EndpointSliceSpec>();
  EXPECT_TRUE(slice.mirror);
  ASSERT_EQ(slice.endpoints.size(), 3u);
  EXPECT_EQ(slice.endpoints[0].ready, true);
  EXPECT_EQ(slice.endpoints[0].node_name, "node");
  EXPECT_EQ(slice.endpoints[0].hostname, "h");
  EXPECT_EQ(slice.endpoints[0].target->name, "p");
  ASSERT_EQ(slice.endpoints[0].ports.size(), 2u);
  EXPECT_EQ(slice.endpoints[0].ports[1].protocol, "UDP");
  EXPECT_EQ(slice.endpoints[1].ready, false);
  EXPECT_EQ(slice.endpoints[1].terminating, false);
  EXPECT_EQ(slice.endpoints[1].ports.size(), 2u);
  EXPECT_EQ(slice.endpoints[2].addresses[0], "fd00::1");
  ASSERT_EQ(slice.endpoints[2].ports.size(), 1u);
  EXPECT_EQ(slice.endpoints[2].ports[0].port, 9080);
}

TEST(KubernetesEndpointsTest, InAListAndBesideASliceOfTheirNameAreTheirOwnObject) {
  const ParseResult result = ParseManifests(R"(
apiVersion: v1
kind: EndpointsList
items: [{apiVersion: v1, metadata: {name: a}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: a}
addressType: IPv4
)",
                                            "f");
  EXPECT_THAT(result.diagnostics, IsEmpty());
  EXPECT_EQ(result.objects.size(), 2u);
}

TEST(KubernetesEndpointsTest, WhatKubernetesDoesNotMirrorHasNoEndpoints) {
  const auto endpoints = [](std::string_view metadata) {
    return Read<EndpointSliceSpec>(ReplaceAll(kEndpoints, "labels: {app: a}", metadata)).endpoints.size();
  };
  EXPECT_EQ(endpoints("labels: {endpointslice.kubernetes.io/skip-mirror: \"true\"}"), 0u);
  EXPECT_EQ(endpoints("annotations: {control-plane.alpha.kubernetes.io/leader: \"{}\"}"), 0u);
  EXPECT_EQ(endpoints("labels: {endpointslice.kubernetes.io/skip-mirror: \"false\"}"), 3u);
}

TEST(KubernetesEndpointsTest, MistakesNameTheirField) {
  EXPECT_THAT(Mistakes(ReplaceAll(kEndpoints, "port: 9080", "port: 90800")),
              ElementsAre(HasSubstr("subsets[1].ports[0].port: 90800 is no port: from 1 to 65535")));
  EXPECT_THAT(Mistakes(ReplaceAll(kEndpoints, "notReadyAddresses", "unreadyAddresses")),
              ElementsAre(HasSubstr("subsets[0].unreadyAddresses")));
}

TEST(KubernetesPodTest, ReadsWhatAMeshNeeds) {
  const auto pod = Read<PodSpec>(R"(
apiVersion: v1
kind: Pod
metadata:
  name: a
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]
  managedFields: [{manager: m, fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]
spec:
  nodeName: node
  hostNetwork: true
  subdomain: sub
  containers:
  - name: app
    image: app
    ports: [{containerPort: 8080, name: http}, {containerPort: 53, protocol: UDP}]
    resources: {limits: {cpu: 100m, memory: 1.5Gi}, requests: {cpu: 1}}
    readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 5}
    env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]
  initContainers:
  - {name: once, ports: [{containerPort: 1}]}
  - {name: stays, restartPolicy: Always, ports: [{containerPort: 9090}]}
  volumes: [{name: v, emptyDir: {}}, {name: w, secret: {secretName: s}}]
status:
  phase: Running
  podIPs: [{ip: 10.0.0.1}, {ip: "fd00::1"}]
  startTime: "2026-01-01T00:00:00Z"
  conditions: [{type: Ready, status: "True", lastTransitionTime: null}]
)");
  EXPECT_EQ(pod.service_account, "default");
  EXPECT_EQ(pod.node_name, "node");
  EXPECT_TRUE(pod.host_network);
  EXPECT_TRUE(pod.ready);
  EXPECT_EQ(pod.pod_ip, "10.0.0.1");
  EXPECT_THAT(pod.pod_ips, ElementsAre("10.0.0.1", "fd00::1"));
  ASSERT_EQ(pod.ports.size(), 3u);
  EXPECT_EQ(pod.ports[0].name, "http");
  EXPECT_EQ(pod.ports[1].protocol, "UDP");
  EXPECT_EQ(pod.ports[2].container_port, 9090);
}

TEST(KubernetesPodTest, ChecksAllOfIt) {
  const auto mistakes = [](std::string_view spec) {
    return Mistakes(StrCat("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: ", spec, "}"));
  };
  EXPECT_THAT(mistakes("{containers: [{name: a, resources: {limits: {cpu: lots}}}]}"),
              ElementsAre(HasSubstr("spec.containers[0].resources.limits.cpu: expected a quantity")));
  EXPECT_THAT(mistakes("{volumes: [{name: v, emptydir: {}}]}"),
              ElementsAre(HasSubstr("did you mean \"emptyDir\"?")));
  EXPECT_THAT(mistakes("{volumes: [{name: v, volumeSource: {}}]}"),
              ElementsAre(HasSubstr("spec.volumes[0].volumeSource: unknown field")));
  EXPECT_THAT(Mistakes("{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: today}}"),
              ElementsAre(HasSubstr("expected a time such as")));
}

TEST(KubernetesNodeTest, ReadsAddresses) {
  const auto node = Read<NodeSpec>(
      "{apiVersion: v1, kind: Node, metadata: {name: node, namespace: ignored}, "
      "status: {addresses: [{type: ExternalIP, address: 1.2.3.4}]}}");
  EXPECT_EQ(node.addresses.at(0).type, "ExternalIP");
}

TEST(KubernetesSecretTest, MergesTextsOverData) {
  const auto secret = Read<SecretSpec>(
      "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: YQ==, b: Yg==}, stringData: {b: new}}");
  EXPECT_EQ(secret.type, "Opaque");
  EXPECT_EQ(secret.data.at("a"), "a");
  EXPECT_EQ(secret.data.at("b"), "new");
  EXPECT_THAT(Mistakes("{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: '*'}}"),
              ElementsAre(HasSubstr("data: the text is not base64")));
}

TEST(KubernetesConfigMapTest, ReadsTextsAndBytes) {
  const auto map = Read<ConfigMapSpec>(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {a: 'x'}, binaryData: {b: Yg==}}");
  EXPECT_EQ(map.data.at("a"), "x");
  EXPECT_EQ(map.binary_data.at("b"), "b");
}

TEST(ClusterSetKindsTest, ImportsHaveAddressesAndNoUnknownFields) {
  const auto text = [](std::string_view rest) {
    return StrCat("{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, metadata: {name: a}, ",
                  rest, "}");
  };
  const ParseResult read = ParseManifests(
      text("spec: {type: ClusterSetIP, ips: ['10.0.0.1', 'fd00::1'], ports: [{port: 80}]}"), "f");
  ASSERT_EQ(read.objects.size(), 1u);
  EXPECT_THAT(read.objects[0]->Spec<ServiceImportSpec>().ips, ElementsAre("10.0.0.1", "fd00::1"));
  EXPECT_THAT(Mistakes(text("spec: {ips: 10.0.0.1}")),
              ::testing::Contains(HasSubstr("spec.ips: expected a list of addresses")));
  EXPECT_THAT(Mistakes(text("specs: {}")), ::testing::Contains(HasSubstr("specs: unknown field")));
  EXPECT_EQ(ParseManifests(
                "{apiVersion: multicluster.x-k8s.io/v1beta1, kind: ServiceExport, metadata: {name: a}}", "f")
                .objects.size(),
            1u);
}

TEST(KubernetesHashTest, DependsOnWhatIsRead) {
  const auto hash = [](std::string_view text) {
    const ParseResult result = ParseManifests(text, "f");
    return result.objects.size() == 1 ? result.objects[0]->content_hash() : Hash128();
  };
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: a, resourceVersion: '1'}, status: {phase: Running, "
      "conditions: [{type: Ready, status: 'True'}]}}";
  EXPECT_NE(hash(pod), Hash128());
  EXPECT_EQ(hash(pod), hash(ReplaceAll(pod, "'1'", "'2'")));
  EXPECT_EQ(hash(pod), hash(ReplaceAll(pod, "phase", "hostIP: 1.2.3.4, phase")));
  EXPECT_NE(hash(pod), hash(ReplaceAll(pod, "'True'", "'False'")));
  EXPECT_NE(hash(pod), hash(ReplaceAll(pod, "name: a", "name: b")));
}

}  // namespace
}  // namespace fairlead::config
