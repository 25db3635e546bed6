#include "app/mesh_model.h"

#include <gtest/gtest.h>

#include "config/manifests.h"
#include "model/mesh_config.h"

// Why what is published is published.
namespace fairlead::app {
namespace {

class MeshModelTest : public testing::Test {
 protected:
  MeshModelTest() { Update("", Settings("", "")); }

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
    push::Reasons reasons;
    const bool published = model_.Update(changes, settings, &reasons) != nullptr;
    return published ? reasons.ToText() : "nothing";
  }

  StoreMeshModel model_;
};

TEST_F(MeshModelTest, ObjectsAreReasonsByTheirKind) {
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

TEST_F(MeshModelTest, SettingsAreOfTheMeshOrOfItsNetworks) {
  const model::SettingsPtr mesh = Settings("{accessLogFile: /dev/stdout}", "");
  EXPECT_EQ(Update("", mesh), "global:1");
  auto networks = std::make_shared<model::Settings>(*mesh);
  networks->networks = Settings("",
                                "networks: {n1: {endpoints: [{fromRegistry: Kubernetes}], "
                                "gateways: [{address: 1.2.3.4, port: 15443}]}}")
                           ->networks;
  EXPECT_EQ(Update("", networks), "networks:1");
}

TEST_F(MeshModelTest, AServiceThatLeadsToItsNetworkIsAReasonOfTwoSorts) {
  constexpr char kGateway[] =
      "{apiVersion: v1, kind: Service, metadata: {name: gw, namespace: shop, labels: "
      "{topology.istio.io/network: n1}}, spec: {type: LoadBalancer, clusterIP: 10.0.0.9, "
      "ports: [{name: tls, port: 15443}]}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}}";
  EXPECT_EQ(Update(kGateway), "service:1 networks:1");
}

}  // namespace
}  // namespace fairlead::app
