#include "gateway_api/status/statuses.h"

#include <gmock/gmock.h>

#include "gateway_api/test_mesh.h"

// Statuses as a whole are compared with Istio's in tests/status; what is here is what those cases do not
// show.
namespace fairlead::gateway_api {
namespace {

using testing::HasSubstr;

constexpr char kEdge[] = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop, generation: 3}
spec:
  gatewayClassName: istio
  listeners: [{name: http, port: 80, protocol: HTTP}]
)";

TEST(StatusesTest, AConditionThatSaysTheSameStaysAsItWas) {
  TestMesh mesh;
  mesh.Apply(StrCat(kEdge, R"(status:
  conditions:
  - {type: Accepted, status: 'True', reason: Before, message: Resource accepted, observedGeneration: 3,
     lastTransitionTime: '2026-01-01T00:00:00Z'}
  - {type: ResolvedRefs, status: 'True', reason: ResolvedRefs, message: other, observedGeneration: 2,
     lastTransitionTime: '2026-01-02T00:00:00Z'}
  - {type: Foreign, status: 'False', reason: Foreign, message: '', observedGeneration: 1,
     lastTransitionTime: '2026-01-03T00:00:00Z'}
)"));
  const std::string status = mesh.Status("Gateway", "edge");
  EXPECT_THAT(status, HasSubstr(R"("reason":"Before")"));
  EXPECT_THAT(status, HasSubstr("2026-01-01"));
  EXPECT_THAT(status, HasSubstr(R"("message":"All references resolved","observedGeneration":3,)"
                                R"("lastTransitionTime":"2026-01-02T00:00:00Z")"));
  EXPECT_THAT(status, HasSubstr(R"("type":"Foreign")"));
}

TEST(StatusesTest, NamespacesOfAnotherRevisionGetNone) {
  TestMesh mesh;
  mesh.Apply(StrCat(kEdge,
                    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: "
                    "{istio.io/rev: canary}}\n"));
  EXPECT_EQ(mesh.Status("Gateway", "edge"), "");
}

// Gateways are seen by all, as routes may be moved before them.
TEST(StatusesTest, RoutesOfTheControlPlanesRevisionCount) {
  const auto route = [](const char* name, const char* labels) {
    return StrCat("---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: ", name,
                  ", namespace: shop", labels, "}\nspec: {parentRefs: [{name: edge}], hostnames: [", name,
                  ".example]}\n");
  };
  for (const std::string revision : {"default", "canary"}) {
    model::Features features;
    features.revision = revision;
    TestMesh mesh("", features);
    mesh.Apply(StrCat(kEdge, route("plain", ""), route("default", ", labels: {istio.io/rev: default}"),
                      route("canary", ", labels: {istio.io/rev: canary}")));
    EXPECT_EQ(mesh.translation().routes().size(), 2u);
    EXPECT_TRUE(mesh.translation().routes().contains({config::Kind::kHttpRoute, "shop", Interned(revision)}));
  }
}

TEST(StatusesTest, AGatewayIsToldOfItsService) {
  TestMesh mesh;
  mesh.Apply(kEdge);
  EXPECT_THAT(mesh.Status("Gateway", "edge"),
              HasSubstr(R"(hostname \"edge-istio.shop.svc.cluster.local\" not found)"));
  mesh.Apply(R"(
apiVersion: v1
kind: Service
metadata: {name: edge-istio, namespace: shop}
spec: {type: LoadBalancer, clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}
status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: edge-istio-1, namespace: shop, labels: {kubernetes.io/service-name: edge-istio}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.0.1]}]
)");
  const std::string status = mesh.Status("Gateway", "edge");
  EXPECT_THAT(status, HasSubstr(R"("addresses":[{"type":"IPAddress","value":"203.0.113.7"}])"));
  EXPECT_THAT(status, HasSubstr("assigned to service(s) edge-istio.shop.svc.cluster.local:80"));
}

TEST(StatusesTest, NewAddressesAreNotThoseInUse) {
  TestMesh mesh;
  mesh.Apply(R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: old, namespace: shop}
spec: {hosts: [old.example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
status: {addresses: [{host: old.example, value: 240.240.0.1}, {host: old.example, value: '2001:2::1'}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: new, namespace: shop}
spec: {hosts: [new.example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
)");
  EXPECT_EQ(mesh.Status("ServiceEntry", "new"),
            R"({"addresses":[{"host":"new.example","value":"240.240.0.2"},)"
            R"({"host":"new.example","value":"2001:2::2"}]})");
  EXPECT_THAT(mesh.Status("ServiceEntry", "old"), HasSubstr("240.240.0.1"));
}

TEST(StatusesTest, NewAddressesAreOfTheRanges) {
  model::Features features;
  features.ipv4_range = "10.9.255.253/16";
  features.ipv6_range = "fd00:1::ffff/64";
  TestMesh mesh("", features);
  mesh.Apply(R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: all, namespace: shop}
spec: {hosts: [a.example, b.example, c.example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
)");
  // The second range goes on where the first is used up.
  EXPECT_EQ(mesh.Status("ServiceEntry", "all"),
            R"({"addresses":[{"host":"a.example","value":"10.9.255.254"},)"
            R"({"host":"a.example","value":"fd00:1::1:0"},{"host":"b.example","value":"10.9.255.255"},)"
            R"({"host":"b.example","value":"fd00:1::1:1"},{"host":"c.example","value":"fd00:1::1:2"}]})");
}

TEST(StatusesTest, AreOfTheConfiguredController) {
  model::Features features;
  features.gateway_controller = "example.com/mine";
  TestMesh mesh("", features);
  mesh.Apply(R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: ours}
spec: {controllerName: example.com/mine}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: theirs}
spec: {controllerName: istio.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: ours, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}]}
)");
  EXPECT_THAT(mesh.Status("GatewayClass", "ours"), HasSubstr("Accepted"));
  EXPECT_EQ(mesh.Status("GatewayClass", "theirs"), "");
  EXPECT_THAT(mesh.Status("HTTPRoute", "web"), HasSubstr(R"("controllerName":"example.com/mine")"));
}

}  // namespace
}  // namespace fairlead::gateway_api
