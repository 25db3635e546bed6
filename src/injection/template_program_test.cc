#include "injection/template_program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "injection/configuration.h"
#include "injection/pod_injection.h"
#include "injection/review.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

using std::chrono::milliseconds;

// A program beside the test's own file, whose templates say what they do.
class TemplateProgramTest : public testing::Test {
 protected:
  TemplateProgramTest() {
    options_.path = TemplateProgram::FindBeside();
    options_.run_limit = milliseconds(1500);
    options_.most_memory = 128 << 20;
    options_.most_output = 1 << 20;
  }

  void Start(std::string_view templates) {
    ASSERT_NE(options_.path, "") << "fairlead-templates is not built";
    engine_ = std::make_unique<TemplateProgram>(options_);
    auto configuration = Load(templates);
    ASSERT_TRUE(configuration.ok()) << configuration.status();
    configuration_ = *configuration;
  }

  absl::StatusOr<InjectorConfigurationPtr> Load(std::string_view templates) {
    const InjectorTexts texts{"policy: enabled\ntemplates:\n" + std::string(templates),
                              "{global: {hub: h, tag: t}}"};
    return LoadConfiguration(texts, model::DefaultMeshConfig(), {}, *engine_);
  }

  // The error of injecting a pod with a template; "" without one.
  std::string Inject(const std::string& name) {
    PodQuestion question;
    question.path = "/inject";
    question.object = {{"metadata", {{"name", "p"}, {"annotations", {{"inject.istio.io/templates", name}}}}},
                       {"spec", {{"containers", {{{"name", "c"}}}}}}};
    return AnswerPod(question, configuration_, {}, *engine_).error;
  }

  TemplateProgramOptions options_;
  std::unique_ptr<TemplateProgram> engine_;
  InjectorConfigurationPtr configuration_;
};

constexpr char kGood[] = "  good: 'metadata: {labels: {good: \"{{ .ObjectMeta.Name }}\"}}'\n";
constexpr char kEndless[] =
    "  endless: '{{ define \"x\" }}{{ range until 1000 }}{{ template \"x\" . }}{{ end }}{{ end }}{{ template "
    "\"x\" . }}'\n";

TEST_F(TemplateProgramTest, RunsTemplates) {
  Start(kGood);
  EXPECT_EQ(Inject("good"), "");
}

TEST_F(TemplateProgramTest, ALoopIsRefusedAndHurtsNobody) {
  options_.workers = 2;
  Start(std::string(kGood) + kEndless);
  std::string refusal;
  std::thread looping([&] { refusal = Inject("endless"); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Inject("good"), "");
  looping.join();
  EXPECT_NE(refusal, "");
  EXPECT_EQ(Inject("good"), "");
}

TEST_F(TemplateProgramTest, ASlowTemplateKeepsOneWorkerAtMost) {
  options_.workers = 2;
  Start(std::string(kGood) + "  slow: '{{ range until 30000 }}{{ range until 3000 }}{{ end }}{{ end }}'\n");
  EXPECT_NE(Inject("slow").find("take longer than 1500ms"), std::string::npos);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(6);
  for (std::string& error : errors) threads.emplace_back([&] { error = Inject("slow"); });
  std::this_thread::sleep_for(milliseconds(50));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Inject("good"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1200));
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) EXPECT_NE(error, "");
}

TEST_F(TemplateProgramTest, MemoryAndOutputAreBounded) {
  Start(std::string(kGood) +
        "  big: '{{ $s := repeat 1000000 \"x\" }}{{ range until 2000 }}{{ $s = print $s $s }}{{ end }}'\n" +
        "  long: '{{ range until 2000000 }}xxxx{{ end }}'\n");
  EXPECT_NE(Inject("big"), "");
  EXPECT_NE(Inject("long").find("writes more than is allowed"), std::string::npos);
  EXPECT_EQ(Inject("good"), "");
}

TEST_F(TemplateProgramTest, TellsWhatCannotBeRead) {
  options_.workers = 1;
  Start(kGood);
  EXPECT_EQ(Load("  bad: '{{ wharf }}'\n").status().message(),
            "failed to get initial configuration: template: inject:1: function \"wharf\" not defined");
  EXPECT_EQ(Inject("good"), "") << "the last configuration goes on";
}

TEST_F(TemplateProgramTest, WithoutAProgramEveryPodIsRefused) {
  options_.path = "/nowhere/fairlead-templates";
  engine_ = std::make_unique<TemplateProgram>(options_);
  EXPECT_TRUE(absl::IsNotFound(Load(kGood).status()));
}

}  // namespace
}  // namespace fairlead::injection
