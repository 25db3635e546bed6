#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "injection/template_program.h"
#include "injection/typed_json.h"
#include "source/file/read_file.h"
#include "webhook/admission_server.h"

namespace fairlead::webhook {
namespace {

using injection::Json;
using injection::Member;
using injection::TextOf;
using testing::HasSubstr;

constexpr char kFolder[] = "tests/injection/http/";

class WebhookTest : public testing::Test {
 protected:
  WebhookTest() {
    injection::TemplateProgramOptions program;
    program.path = injection::TemplateProgram::FindBeside();
    options_.retry = std::chrono::milliseconds(20);
    engine_ = std::make_unique<injection::TemplateProgram>(program);
  }

  void Start() {
    injector_ = std::make_unique<Injector>(options_, std::move(engine_));
    injector_->SetMesh(model::DefaultMeshConfig());
    injector_->Start();
    server_ = std::make_unique<AdmissionServer>(nullptr, injector_.get());
    ASSERT_TRUE(server_->Start("127.0.0.1:0").ok());
  }

  void StartWith(const std::string& config, const std::string& values) {
    Start();
    injector_->SetTexts("test", {config, values});
    WaitFor([&] { return injector_->configuration() != nullptr; });
  }

  template <typename Condition>
  static void WaitFor(Condition condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(condition());
  }

  httplib::Result Ask(const Json& exchange) {
    httplib::Request request;
    request.method = TextOf(exchange, "method");
    request.path = TextOf(exchange, "path");
    request.body = TextOf(exchange, "body");
    if (const std::string type = TextOf(exchange, "contentType"); !type.empty())
      request.set_header("Content-Type", type);
    httplib::Client client("127.0.0.1", server_->port());
    return client.send(request);
  }

  std::string Post(const std::string& path, const Json& review) {
    const auto answer = Ask({{"method", "POST"},
                             {"path", path},
                             {"contentType", "application/json"},
                             {"body", JsonText(review)}});
    return answer ? answer->body : "";
  }

  InjectorOptions options_;
  std::unique_ptr<injection::TemplateEngine> engine_;
  std::unique_ptr<Injector> injector_;
  std::unique_ptr<AdmissionServer> server_;
};

std::string TextOfFile(const std::string& name) { return *source::ReadFile(kFolder + name); }

// The answer with the number of the patch's operations in place of the patch.
Json Comparable(const std::string& body) {
  auto json = injection::ReadJson(body);
  if (!json.ok()) return body;
  if (const std::string patch = TextOf(Member(*json, "response"), "patch"); !patch.empty()) {
    std::string decoded;
    EXPECT_TRUE(absl::Base64Unescape(patch, &decoded));
    (*json)["response"]["patch"] =
        "(a patch of " + std::to_string(injection::ReadJson(decoded)->size()) + " operations)";
  }
  return *json;
}

TEST_F(WebhookTest, AnswersAsIstiod) {
  StartWith(TextOfFile("injector.yaml"), TextOfFile("values.yaml"));
  const auto exchanges = injection::ReadJson(TextOfFile("exchanges.json"));
  ASSERT_TRUE(exchanges.ok());
  for (const Json& exchange : *exchanges) {
    const auto answer = Ask(exchange);
    ASSERT_TRUE(answer) << exchange;
    EXPECT_EQ(answer->status, Member(exchange, "status")) << TextOf(exchange, "name");
    EXPECT_EQ(Comparable(answer->body), Member(exchange, "response")) << TextOf(exchange, "name");
  }
}

Json ReviewOf(Json object, const std::string& operation = "CREATE") {
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request",
           {{"uid", "u"}, {"namespace", "market"}, {"operation", operation}, {"object", std::move(object)}}}};
}

Json Pod() { return {{"metadata", {{"name", "p"}}}, {"spec", {{"containers", {{{"name", "c"}}}}}}}; }

TEST_F(WebhookTest, WithoutAConfigurationTheFailurePolicyDecides) {
  Start();
  EXPECT_THAT(Post("/inject", ReviewOf(Pod())), HasSubstr("no configuration"));
}

// A server that says it is ready before it can inject would refuse pods while its predecessor goes.
TEST_F(WebhookTest, TextsAreAwaitedUntilTheyWereReadOnce) {
  Injector injector(options_, std::move(engine_));
  EXPECT_EQ(injector.Awaited(), "");
  injector.SetTexts("ConfigMap a/b", {"policy: enabled\ntemplates: {sidecar: '{}'}", "{}"});
  injector.SetMesh(model::DefaultMeshConfig());
  EXPECT_EQ(injector.Awaited(), "ConfigMap a/b");
  injector.Start();
  WaitFor([&] { return injector.Awaited().empty(); });
  EXPECT_NE(injector.configuration(), nullptr);
  injector.SetTexts("ConfigMap a/b", {"policy: disabled", "{}"});
  EXPECT_EQ(injector.Awaited(), "");
}

TEST_F(WebhookTest, BrokenTextsAreNotAwaitedForEver) {
  Injector injector(options_, std::move(engine_));
  injector.SetTexts("ConfigMap a/b", {"policy: [", "{}"});
  injector.SetMesh(model::DefaultMeshConfig());
  injector.Start();
  WaitFor([&] { return injector.Awaited().empty(); });
  EXPECT_EQ(injector.configuration(), nullptr);
}

TEST_F(WebhookTest, ABrokenConfigurationLeavesTheLast) {
  StartWith("policy: enabled\ntemplates: {sidecar: 'metadata: {labels: {a: \"1\"}}'}", "{}");
  const auto before = injector_->configuration();
  injector_->SetTexts("test", {"policy: enabled\ntemplates: {sidecar: '{{ wharf }}'}", "{}"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(injector_->configuration(), before);
  EXPECT_THAT(Post("/inject", ReviewOf(Pod())), HasSubstr("\"patch\""));
  injector_->SetTexts("test", {"policy: disabled", "{}"});
  WaitFor([&] { return injector_->configuration() != before; });
  EXPECT_EQ(Post("/inject", ReviewOf(Pod())).find("\"patch\""), std::string::npos);
}

TEST_F(WebhookTest, FilesAreReadAnew) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "fairlead-webhook-test";
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, std::string_view text) { std::ofstream(folder / name) << text; };
  write("values", "{}");
  write("config", "policy: disabled");
  options_.folder = folder;
  Start();
  EXPECT_TRUE(injector_->HasFiles());
  WaitFor([&] { return injector_->configuration() != nullptr; });
  EXPECT_EQ(injector_->configuration()->policy, "disabled");
  write("config", "policy: enabled");
  WaitFor([&] { return injector_->configuration()->policy == "enabled"; });
  std::filesystem::remove_all(folder);
}

Json Rule(int weight) {
  return {{"apiVersion", "networking.istio.io/v1"},
          {"kind", "VirtualService"},
          {"metadata", {{"name", "v"}, {"namespace", "market"}}},
          {"spec",
           {{"hosts", {"a.example"}},
            {"http", {{{"route", {{{"destination", {{"host", "a"}}}, {"weight", weight}}}}}}}}}};
}

TEST_F(WebhookTest, ObjectsThatIstioRefusesAreRefused) {
  Start();
  EXPECT_THAT(Post("/validate", ReviewOf(Rule(100))), HasSubstr("\"allowed\":true"));
  const std::string refused = Post("/validate", ReviewOf(Rule(-1), "UPDATE"));
  EXPECT_THAT(refused, HasSubstr("\"allowed\":false"));
  EXPECT_THAT(refused, HasSubstr("configuration is invalid: "));
  EXPECT_THAT(refused, HasSubstr("\"uid\":\"u\""));
  EXPECT_THAT(Post("/validate", ReviewOf(Rule(-1), "DELETE")), HasSubstr("\"allowed\":true"));
  EXPECT_THAT(Post("/validate", ReviewOf(Pod())), HasSubstr("\"allowed\":true"));
}

}  // namespace
}  // namespace fairlead::webhook
