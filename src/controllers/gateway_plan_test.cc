#include "controllers/gateway_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "config/read/manifests.h"

namespace fairlead::controllers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

config::ObjectStore Objects(const std::string& manifests) {
  config::ObjectStore objects;
  std::vector<config::ObjectChange> changes;
  const config::ParseResult parsed =
      config::ParseManifests(manifests, "test.yaml", config::Admission::kPassed);
  for (const config::Diagnostic& one : parsed.diagnostics) ADD_FAILURE() << config::ToText(one);
  for (const auto& object : parsed.objects) changes.push_back({KeyOf(*object), object});
  objects.Apply(changes);
  return objects;
}

constexpr char kHead[] = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n";

// The plan of the only Gateway.
GatewayPlan PlanOf(const std::string& manifests, const GatewayPlanSettings& settings = {}) {
  const auto plans = PlanGateways(Objects(manifests), settings);
  EXPECT_EQ(plans.size(), 1);
  return plans.empty() ? GatewayPlan() : plans.begin()->second;
}

std::vector<std::string> PortsOf(const GatewayPlan& plan) {
  std::vector<std::string> texts;
  for (const auto& port : plan.question.ports)
    texts.push_back(JsonString(port, "name") + " " + std::to_string(port.value("port", 0)) + " " +
                    JsonString(port, "protocol"));
  return texts;
}

TEST(GatewayPlanTest, NamesAndMetadataAreTheGateways) {
  const GatewayPlan plan =
      PlanOf(std::string(kHead) +
             "metadata: {name: front, namespace: shop, labels: {a: b}, annotations: {c: d}}\n"
             "spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  EXPECT_EQ(plan.question.deployment_name, "front-istio");
  EXPECT_EQ(plan.question.service_account, "front-istio");
  EXPECT_THAT(plan.question.labels, ElementsAre(Pair("a", "b")));
  EXPECT_THAT(plan.question.annotations, ElementsAre(Pair("c", "d")));
  EXPECT_EQ(plan.field_manager, "istio.io/gateway-controller");
}

TEST(GatewayPlanTest, InfrastructureReplacesTheGatewaysMetadata) {
  const std::string manifest =
      std::string(kHead) +
      "metadata: {name: front, namespace: shop, labels: {a: b}, annotations: {c: d}}\n"
      "spec:\n  gatewayClassName: istio\n  listeners: [{name: http, port: 80, protocol: HTTP}]\n  "
      "infrastructure:\n    labels: {e: f, "
      "gateway.networking.k8s.io/x: z}\n";
  EXPECT_THAT(PlanOf(manifest).question.labels, ElementsAre(Pair("e", "f")));
  EXPECT_THAT(PlanOf(manifest).question.annotations, ElementsAre(Pair("c", "d")));
  GatewayPlanSettings settings;
  settings.copy_metadata = false;
  EXPECT_THAT(PlanOf(manifest, settings).question.labels, ElementsAre(Pair("e", "f")));
  EXPECT_THAT(PlanOf(manifest, settings).question.annotations, IsEmpty());
}

TEST(GatewayPlanTest, AnnotationsNameTheObjects) {
  const GatewayPlan plan = PlanOf(
      std::string(kHead) +
      "metadata:\n  name: front\n  namespace: shop\n  annotations:\n    gateway.istio.io/name-override: own\n"
      "    gateway.istio.io/service-account: runner\n    networking.istio.io/service-type: NodePort\n"
      "spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  EXPECT_EQ(plan.question.deployment_name, "own");
  EXPECT_EQ(plan.question.service_account, "runner");
  EXPECT_EQ(plan.question.service_type, "NodePort");
}

TEST(GatewayPlanTest, PortsAreThoseOfTheListenersAndOfListenerSets) {
  const std::string manifests =
      std::string(kHead) +
      "metadata: {name: front, namespace: shop}\nspec:\n  gatewayClassName: istio\n"
      "  allowedListeners: {namespaces: {from: Same}}\n"
      "  listeners:\n  - {name: web.main, port: 443, protocol: HTTPS, hostname: a.example, tls: "
      "{certificateRefs: [{name: c}]}}\n"
      "  - {name: again, port: 443, protocol: HTTPS, hostname: b.example, tls: {certificateRefs: [{name: "
      "c}]}}\n"
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\n"
      "metadata: {name: more, namespace: NS}\nspec:\n"
      "  parentRef: {name: front, namespace: shop, kind: Gateway, group: "
      "gateway.networking.k8s.io}\n  listeners: [{name: tcp, port: 9000, protocol: TCP}]\n";
  const auto in = [&](const std::string& ns) {
    return std::string(manifests).replace(manifests.find("NS}"), 2, ns);
  };
  EXPECT_THAT(PortsOf(PlanOf(in("shop"))),
              ElementsAre("status-port 15021 TCP", "web-main 443 TCP", "tcp 9000 TCP"));
  EXPECT_THAT(PortsOf(PlanOf(in("other"))), ElementsAre("status-port 15021 TCP", "web-main 443 TCP"));
  GatewayPlanSettings settings;
  settings.quic = true;
  EXPECT_THAT(PortsOf(PlanOf(in("other"), settings)),
              ElementsAre("status-port 15021 TCP", "web-main 443 TCP", "web-main-quic 443 UDP"));
}

TEST(GatewayPlanTest, OverlaysAreTheClassesThenTheGateways) {
  const GatewayPlan plan = PlanOf(
      std::string(kHead) +
      "metadata: {name: front, namespace: shop}\nspec:\n  gatewayClassName: istio\n  listeners: [{name: "
      "http, port: 80, protocol: HTTP}]\n"
      "  infrastructure: {parametersRef: {group: '', kind: ConfigMap, name: own}}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: shop}\ndata: {service: two}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: all, namespace: istio-system, "
      "creationTimestamp: "
      "'2026-01-01T00:00:00Z', labels: {gateway.istio.io/defaults-for-class: istio}}\ndata: {service: one}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: younger, namespace: istio-system, "
      "creationTimestamp: '2026-02-01T00:00:00Z', labels: {gateway.istio.io/defaults-for-class: istio}}\n"
      "data: {service: none}\n");
  EXPECT_EQ(plan.error, "");
  ASSERT_EQ(plan.question.overlays.size(), 2);
  EXPECT_EQ(plan.question.overlays[0].at("service"), "one");
  EXPECT_EQ(plan.question.overlays[1].at("service"), "two");
}

TEST(GatewayPlanTest, MissingAndUnknownParametersAreSaid) {
  const std::string head = std::string(kHead) +
                           "metadata: {name: front, namespace: shop}\nspec:\n  gatewayClassName: istio\n  "
                           "listeners: [{name: http, port: 80, protocol: HTTP}]\n"
                           "  infrastructure: {parametersRef: ";
  EXPECT_EQ(PlanOf(head + "{group: '', kind: ConfigMap, name: own}}\n").error,
            "parametersRef targeting configmap \"shop/own\", but configmap does not exist");
  EXPECT_EQ(PlanOf(head + "{group: x, kind: Thing, name: own}}\n").error,
            "invalid parameters: unknown infrastructure parameters type x/Thing");
}

TEST(GatewayPlanTest, ARevisionDeploysItsOwnGateways) {
  const config::ObjectStore objects = Objects(
      std::string(kHead) +
      "metadata: {name: plain, namespace: shop}\nspec: {gatewayClassName: istio, listeners: [{name: http, "
      "port: 80, protocol: HTTP}]}\n---\n" +
      kHead +
      "metadata: {name: canary, namespace: shop, labels: {istio.io/rev: canary}}\nspec: {gatewayClassName: "
      "istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n---\n" +
      kHead +
      "metadata: {name: whole, namespace: port}\nspec: {gatewayClassName: istio, listeners: [{name: http, "
      "port: 80, protocol: HTTP}]}\n" +
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: port, labels: {istio.io/rev: canary}}\n" +
      "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  const auto names = [&](const GatewayPlanSettings& settings) {
    std::vector<std::string> all;
    for (const auto& [key, plan] : PlanGateways(objects, settings)) all.push_back(key.name.str());
    return all;
  };
  EXPECT_THAT(names({}), ElementsAre("plain"));
  GatewayPlanSettings canary;
  canary.revisions = {"canary"};
  EXPECT_THAT(names(canary), ElementsAre("whole", "canary"));
}

TEST(GatewayPlanTest, AClassOfAnotherControllerIsNotDeployed) {
  const std::string gateway =
      std::string(kHead) +
      "metadata: {name: front, namespace: shop}\nspec: {gatewayClassName: istio, listeners: [{name: http, "
      "port: 80, protocol: HTTP}]}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\n"
      "metadata: {name: istio}\nspec: {controllerName: ";
  EXPECT_THAT(PlanGateways(Objects(gateway + "example.com/other}\n"), {}), IsEmpty());
  EXPECT_EQ(PlanGateways(Objects(gateway + "istio.io/gateway-controller}\n"), {}).size(), 1);
}

}  // namespace
}  // namespace fairlead::controllers
