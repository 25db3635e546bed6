#include "push/publish/change_reasons.h"

#include <gtest/gtest.h>

#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "state/mesh.h"

// Why what is published is published.
namespace fairlead::push {
namespace {

class ChangeReasonsTest : public testing::Test {
 protected:
  ChangeReasonsTest() { Update("", Settings("", "")); }

  static model::SettingsPtr Settings(std::string_view mesh, std::string_view networks) {
    const auto parsed = model::ParseMeshConfig(mesh, "mesh.yaml");
    return model::MakeSettings(mesh.empty() ? nullptr : parsed.mesh,
                               model::ParseMeshNetworks(networks, "networks.yaml").networks, "cluster.local",
                               "Kubernetes");
  }
  // The reasons of one publication; "nothing" where nothing changed.
  std::string Update(std::string_view manifests, const model::SettingsPtr& settings = nullptr) {
    std::vector<config::ObjectChange> changes;
    if (!manifests.empty()) {
      for (const auto& object : config::ParseManifests(manifests, "test.yaml").objects)
        changes.push_back({config::KeyOf(*object), object});
    }
    const mesh::SnapshotPtr before = mesh_.snapshot();
    const state::Mesh::Change change = mesh_.Apply(changes, settings);
    if (change.snapshot == nullptr) return "nothing";
    Reasons reasons;
    AddReasons(change.objects, before.get(), *change.snapshot, &reasons);
    return reasons.ToText();
  }

  state::Mesh mesh_;
};

TEST_F(ChangeReasonsTest, ObjectsAreReasonsByTheirKind) {
  constexpr char kEntry[] =
      "{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: e, namespace: shop}, "
      "spec: {hosts: [e.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}}";
  EXPECT_EQ(Update(kEntry), "service:1");
  EXPECT_EQ(Update(kEntry), "nothing") << "it says the same";
  EXPECT_EQ(Update("{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, "
                   "spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}}"),
            "service:1");
  EXPECT_EQ(Update("{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, "
                   "metadata: {name: s-1, namespace: shop, labels: {kubernetes.io/service-name: s}}, "
                   "ports: [{port: 80}], endpoints: [{addresses: [10.1.0.1]}]}"),
            "endpoint:1");
  EXPECT_EQ(
      Update(
          "{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: v, namespace: shop}, "
          "spec: {hosts: [s], http: [{route: [{destination: {host: s}}]}]}}"),
      "config:1");
}

TEST_F(ChangeReasonsTest, SettingsAreOfTheMeshOrOfItsNetworks) {
  const model::SettingsPtr mesh = Settings("{accessLogFile: /dev/stdout}", "");
  EXPECT_EQ(Update("", mesh), "global:1");
  auto networks = std::make_shared<model::Settings>(*mesh);
  networks->networks = Settings("",
                                "networks: {n1: {endpoints: [{fromRegistry: Kubernetes}], "
                                "gateways: [{address: 1.2.3.4, port: 15443}]}}")
                           ->networks;
  EXPECT_EQ(Update("", networks), "networks:1");
}

TEST_F(ChangeReasonsTest, AServiceThatLeadsToItsNetworkIsAReasonOfTwoSorts) {
  constexpr char kGateway[] =
      "{apiVersion: v1, kind: Service, metadata: {name: gw, namespace: shop, labels: "
      "{topology.istio.io/network: n1}}, spec: {type: LoadBalancer, clusterIP: 10.0.0.9, "
      "ports: [{name: tls, port: 15443}]}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}}";
  EXPECT_EQ(Update(kGateway), "service:1 networks:1");
}

}  // namespace
}  // namespace fairlead::push
