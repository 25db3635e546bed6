#include "injection/inject_case.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/files.h"
#include "base/strings.h"
#include "injection/template_program.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

constexpr char kConfig[] = R"(
policy: enabled
defaultTemplates: [sidecar]
templates:
  sidecar: |
    spec:
      containers:
      - name: istio-proxy
        image: proxy
        securityContext: {runAsNonRoot: true}
)";

constexpr char kReview[] = R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
  "uid": "1", "namespace": "market", "object": {"kind": "Pod", "apiVersion": "v1",
    "metadata": {"name": "shop", "namespace": "market"}, "wharf": 1,
    "spec": {"containers": [
      {"name": "shop", "image": "s", "securityContext": {"runAsUser": 1000620000}},
      {"name": "istio-proxy", "image": "auto", "securityContext": {"runAsUser": 1000620000}}]}}}})";

class InjectCaseTest : public testing::Test {
 protected:
  InjectCaseTest() {
    TemplateProgramOptions program;
    program.path = TemplateProgram::FindBeside();
    engine_ = std::make_unique<TemplateProgram>(program);
    EXPECT_TRUE(CreateFolders(folder_).ok());
    Write("injector.yaml", kConfig);
    Write("values.yaml", "{global: {hub: h, tag: 1}}");
    Write("review.json", kReview);
    Write("request.json", R"({"path": "/inject", "nativeSidecars": "auto", "platform": "openshift"})");
  }
  void Write(const char* name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(StrCat(folder_, "/", name), text).ok());
  }

  const std::string folder_ = StrCat(testing::TempDir(), "/inject-case-", getpid());
  std::unique_ptr<TemplateEngine> engine_;
};

// On OpenShift the injector passes over a user that is the application's, too. Where no template has another,
// the patch says nothing of it, so that the API server keeps what was sent, as with istiod.
TEST_F(InjectCaseTest, ThePodIsTheOneThatThePatchMakes) {
  const absl::StatusOr<std::string> text = AnswerCase(folder_, *engine_);
  ASSERT_TRUE(text.ok()) << text.status();
  const Json answer = *ReadJson(*text);
  const Json& proxy = answer["pod"]["spec"]["containers"][1];
  EXPECT_EQ(proxy["name"], "istio-proxy");
  EXPECT_EQ(proxy["image"], "proxy");
  EXPECT_EQ(proxy["securityContext"], (Json{{"runAsNonRoot", true}, {"runAsUser", 1'000'620'000}}));
  EXPECT_FALSE(answer["pod"].contains("wharf")) << "Kubernetes drops what it does not know";
}

}  // namespace
}  // namespace fairlead::injection
