#include "injection/review.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "base/json.h"
#include "injection/template_program.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr char kConfig[] = R"(
policy: enabled
injectedAnnotations: {stamped: "yes"}
templates:
  sidecar: |
    metadata:
      annotations: {ports: "{{ includeInboundPorts .Spec.Containers }}"}
    spec:
      initContainers:
      - {name: istio-init, image: "{{ .ProxyInitImage }}", args: ["-u", "1337"]}
      containers:
      - name: istio-proxy
        image: {{ .ProxyImage }}
        env:
        - {name: OWNER, value: "{{ .DeploymentMeta.Name }}"}
      volumes:
      - {name: data, emptyDir: {}}
)";

constexpr char kPod[] = R"(
metadata:
  name: p
  labels: {app: a}
  annotations:
    prometheus.io/port: "8080"
    proxy.istio.io/config: "concurrency: 2"
    sidecar.istio.io/status: '{"containers":["old"],"initContainers":null}'
    proxy.istio.io/overrides: '{"containers":[{"name":"istio-proxy","image":"own"}]}'
spec:
  securityContext: {fsGroup: 5}
  initContainers:
  - {name: first, image: i}
  containers:
  - name: app
    image: app
    ports: [{containerPort: 80, name: http}, {containerPort: 53, protocol: UDP}]
    resources: {limits: {cpu: 0.5, memory: 1Gi}}
    readinessProbe: {httpGet: {port: http, path: /}, timeoutSeconds: 2}
    livenessProbe: {grpc: {port: 90}}
    lifecycle: {preStop: {tcpSocket: {port: 80}}}
  - name: istio-proxy
    image: auto
    securityContext: {runAsUser: 7}
    env: [{name: A, value: b}]
  volumes: [{name: data, configMap: {name: c}}, {name: other, emptyDir: {}}]
)";

class ReviewTest : public testing::Test {
 protected:
  void SetUp() override {
    TemplateProgramOptions program;
    program.path = TemplateProgram::FindBeside();
    engine_ = std::make_unique<TemplateProgram>(program);
    const auto configuration = LoadConfiguration(
        {kConfig, "{global: {hub: h, tag: 1}, sidecarInjectorWebhook: {rewriteAppHTTPProbe: true}}"},
        model::DefaultMeshConfig(), {}, *engine_);
    ASSERT_TRUE(configuration.ok()) << configuration.status();
    configuration_ = *configuration;
  }

  PodAnswer Answer(const Json& object) {
    PodQuestion question;
    question.object = object;
    question.ns = "market";
    question.path = "/inject/cluster/east";
    return AnswerPod(question, configuration_, {}, *engine_);
  }

  std::unique_ptr<TemplateEngine> engine_;
  InjectorConfigurationPtr configuration_;
};

TEST_F(ReviewTest, ThePatchMakesTheInjectedPodOfTheOneThatWasSent) {
  Json sent = *ReadYaml(kPod);
  sent["wharf"] = 1;
  sent["spec"]["containers"][0]["wharf"] = Json::array({1});
  const PodAnswer answer = Answer(sent);
  ASSERT_TRUE(answer.allowed) << answer.error;
  Json patched = sent.patch(answer.patch);
  EXPECT_EQ(patched["wharf"], 1) << "what nobody knows stays";
  const Json& containers = patched["spec"]["containers"];
  ASSERT_EQ(containers.size(), 2u);
  EXPECT_EQ(containers[1]["name"], "istio-proxy");
  EXPECT_EQ(containers[1]["securityContext"]["runAsUser"], 7) << "the pod's own settings win";
  EXPECT_EQ(containers[0]["readinessProbe"]["httpGet"]["path"], "/app-health/app/readyz");
  EXPECT_EQ(patched["metadata"]["annotations"]["stamped"], "yes");
  auto read = ReadTyped(patched, PodType());
  ASSERT_TRUE(read.ok());
  (*read)["metadata"]["namespace"] = "market";
  EXPECT_EQ(JsonText(*read), JsonText(answer.pod));
}

Json OddValue(std::mt19937& random) {
  const Json values[] = {nullptr,
                         true,
                         0,
                         -1,
                         1.5,
                         70000,
                         "",
                         "auto",
                         "istio-proxy",
                         "{\"a\":",
                         Json::array(),
                         Json::object(),
                         Json::array({nullptr}),
                         Json::array({Json::object()}),
                         Json({{"name", 1}}),
                         Json({{"name", "istio-proxy"}}),
                         std::string(300, 'x'),
                         "\xff",
                         Json({{"$patch", "delete"}})};
  return values[random() % std::size(values)];
}

// Puts an odd value somewhere, or takes something away.
void Spoil(std::mt19937& random, Json* value) {
  if (!value->is_structured() || value->empty() || random() % 5 == 0) {
    *value = OddValue(random);
    return;
  }
  auto it = value->begin();
  std::advance(it, static_cast<ptrdiff_t>(random() % value->size()));
  if (random() % 20 == 0) {
    value->erase(it);
  } else {
    Spoil(random, &*it);
  }
}

TEST_F(ReviewTest, OddPodsAreInjectedOrRefused) {
  std::mt19937 random(28);
  const Json pod = *ReadYaml(kPod);
  int injected = 0;
  for (int i = 0; i < 400; ++i) {
    Json odd = pod;
    for (unsigned n = random() % 3 + 1; n > 0; --n) Spoil(random, &odd);
    const PodAnswer answer = Answer(odd);
    EXPECT_EQ(answer.allowed, answer.error.empty());
    if (answer.patch.is_null()) continue;
    ++injected;
    auto read = ReadTyped(odd.patch(answer.patch), PodType());
    ASSERT_TRUE(read.ok()) << odd;
    (*read)["metadata"].erase("namespace");
    Json made = answer.pod;
    made["metadata"].erase("namespace");
    EXPECT_EQ(JsonText(*read), JsonText(made)) << JsonText(odd);
  }
  EXPECT_GT(injected, 50);
}

}  // namespace
}  // namespace fairlead::injection
