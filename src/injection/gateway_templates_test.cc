#include "injection/gateway_templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "injection/template_program.h"
#include "injection/typed_json.h"
#include "model/mesh_config.h"

namespace fairlead::injection {
namespace {

using ::testing::HasSubstr;

constexpr char kConfig[] = R"(
policy: enabled
templates:
  kube-gateway: |
    # a comment alone
    ---
    apiVersion: v1
    kind: ServiceAccount
    metadata: {name: {{ .ServiceAccount }}, namespace: {{ .Namespace | quote }}}
    ---
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: {{ .DeploymentName }}
      namespace: {{ .Namespace }}
      labels: {{ toJsonMap .InfrastructureLabels (strdict .GatewayNameLabel .Name) }}
      ownerReferences: [{kind: Gateway, name: {{ .Name }}, uid: "{{ .UID }}", apiVersion: gateway.networking.k8s.io/v1}]
    spec:
      replicas: {{ len .Spec.Listeners }}
      template:
        spec:
          containers:
          - name: istio-proxy
            image: {{ .ProxyImage }}
            args: ["{{ annotation .ObjectMeta `level` `none` }}", "{{ .ProxyConfig.Concurrency.GetValue }}", "{{ .Values.global.hub }}"]
          - {name: other, image: o}
    {{- if ge .KubeVersion 130 }}
    ---
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata: {name: {{ .DeploymentName }}, namespace: {{ .Namespace }}}
    spec: {maxReplicas: 1, scaleTargetRef: {kind: Deployment, name: {{ .DeploymentName }}}}
    {{- end }}
  broken: '{{ .Nothing }}'
  stranger: 'kind: Secret'
)";

class GatewayTemplatesTest : public testing::Test {
 protected:
  GatewayTemplatesTest() {
    TemplateProgramOptions options;
    options.path = TemplateProgram::FindBeside();
    engine_ = std::make_unique<TemplateProgram>(std::move(options));
    auto loaded =
        LoadConfiguration({kConfig, "{global: {hub: h, tag: t}}"}, model::DefaultMeshConfig(), {}, *engine_);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (loaded.ok()) configuration_ = *loaded;
    question_.template_name = "kube-gateway";
    question_.gateway = {
        {"metadata",
         {{"name", "front"}, {"namespace", "shop"}, {"uid", "u-1"}, {"annotations", {{"level", "debug"}}}}},
        {"spec",
         {{"gatewayClassName", "istio"},
          {"listeners", {{{"name", "a"}, {"port", 80}}, {{"name", "b"}, {"port", 81}}}}}}};
    question_.deployment_name = "front-istio";
    question_.service_account = "runner";
    question_.labels = {{"tier", "edge"}};
    question_.kubernetes_version = 134;
  }

  absl::StatusOr<std::vector<Json>> Render() {
    return RenderGateway(question_, GatewayRequest(question_, *configuration_, surroundings_),
                         *configuration_, *engine_);
  }
  std::string Error() { return std::string(Render().status().message()); }

  std::unique_ptr<TemplateProgram> engine_;
  InjectorConfigurationPtr configuration_;
  PodSurroundings surroundings_;
  GatewayQuestion question_;
};

TEST_F(GatewayTemplatesTest, TheTemplateSeesTheGateway) {
  const auto objects = Render();
  ASSERT_TRUE(objects.ok()) << objects.status();
  ASSERT_EQ(objects->size(), 2);  // no scaler without an overlay
  EXPECT_EQ((*objects)[0]["metadata"]["name"], "runner");
  const Json& deployment = (*objects)[1];
  EXPECT_EQ(deployment["metadata"]["labels"]["tier"], "edge");
  EXPECT_EQ(deployment["metadata"]["labels"]["gateway.networking.k8s.io/gateway-name"], "front");
  EXPECT_EQ(deployment["metadata"]["ownerReferences"][0]["uid"], "u-1");
  EXPECT_EQ(deployment["spec"]["replicas"], 2);
  const Json& proxy = deployment["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(proxy["image"], "h/proxyv2:t");
  EXPECT_EQ(proxy["args"], (Json{"debug", "0", "h"}));
}

TEST_F(GatewayTemplatesTest, OverlaysAreMergedByKindAndOrder) {
  question_.overlays = {
      {{"deployment",
        "spec: {replicas: 4, template: {spec: {containers: [{name: istio-proxy, image: own, resources: "
        "{requests: {cpu: 1}}}]}}}"},
       {"horizontalPodAutoscaler", "spec: {maxReplicas: 9}"}},
      {{"deployment", "{metadata: {annotations: {a: b}}, spec: {replicas: 5}}"}, {"serviceAccount", ""}}};
  const auto objects = Render();
  ASSERT_TRUE(objects.ok()) << objects.status();
  ASSERT_EQ(objects->size(), 3);
  const Json& spec = (*objects)[1]["spec"];
  EXPECT_EQ(spec["replicas"], 5);
  EXPECT_EQ((*objects)[1]["metadata"]["annotations"]["a"], "b");
  ASSERT_EQ(spec["template"]["spec"]["containers"].size(), 2);
  EXPECT_EQ(spec["template"]["spec"]["containers"][0]["image"], "own");
  EXPECT_EQ(spec["template"]["spec"]["containers"][0]["args"].size(), 3);
  EXPECT_EQ((*objects)[2]["spec"]["maxReplicas"], 9);
}

TEST_F(GatewayTemplatesTest, MistakesAreSaid) {
  question_.overlays = {{{"secret", "{}"}}};
  EXPECT_THAT(Error(), HasSubstr("unsupported overlay \"secret\" (supported: [deployment "));
  question_.overlays = {{{"deployment", "metadata: {name: other}"}}};
  EXPECT_EQ(Error(), "illegal metadata change");
  question_.overlays = {{{"deployment", "- a list"}}};
  EXPECT_EQ(Error(), "strategic merge patch failed: invalid JSON document");
  question_.overlays = {};
  question_.template_name = "broken";
  EXPECT_THAT(Error(), HasSubstr("can't evaluate field Nothing"));
  question_.template_name = "none";
  EXPECT_EQ(Error(), "no \"none\" template defined");
  question_.template_name = "stranger";
  EXPECT_EQ(Error(), "unknown overlay kind \"Secret\"");
}

}  // namespace
}  // namespace fairlead::injection
