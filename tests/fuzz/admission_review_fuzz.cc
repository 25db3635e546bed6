#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "injection/review.h"
#include "injection/typed_json.h"
#include "model/mesh_config.h"
#include "tests/fuzz/choices.h"
#include "webhook/validation.h"

// For libFuzzer: any bytes may be sent to the webhooks. Each gets an answer that a decoder can read, refusals
// have a reason, and an answer repeats the question's uid.
namespace {

using namespace fairlead;
using injection::Json;
using injection::Member;

// A template that adds a container, without a program.
class Engine : public injection::TemplateEngine {
 public:
  absl::StatusOr<Json> Load(const injection::TemplateSet& /*set*/) override { return Json::object(); }
  void Prepare(const injection::TemplateSet& /*set*/) override {}
  absl::StatusOr<Json> Run(const injection::TemplateSetPtr& /*set*/,
                           const std::vector<std::string>& /*names*/,
                           const std::string& /*request*/) override {
    return absl::UnavailableError("no program");
  }
};

injection::InjectorConfigurationPtr Configuration() {
  auto made = std::make_shared<injection::InjectorConfiguration>();
  made->set = std::make_shared<const injection::TemplateSet>();
  made->policy = "enabled";
  made->default_templates = {"sidecar"};
  made->templates = {"sidecar"};
  made->mesh = model::DefaultMeshConfig();
  return made;
}

void CheckAnswer(const std::string& text, const std::string& uid) {
  const auto answer = injection::ReadJson(text);
  fuzz::Require(answer.ok(), "an answer that is no JSON");
  const Json& response = Member(*answer, "response");
  fuzz::Require(response.is_object() && Member(response, "allowed").is_boolean(),
                "an answer without a verdict");
  fuzz::Require(injection::TextOf(response, "uid") == uid, "an answer to another question");
  fuzz::Require(Member(response, "allowed") == true || !Member(response, "status").is_null(),
                "a refusal without a reason");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const injection::InjectorConfigurationPtr configuration = Configuration();
  static const injection::PodSurroundings surroundings;
  static Engine engine;
  const std::string body(reinterpret_cast<const char*>(data), size);
  const auto review = injection::ReadReview(body);
  server::HttpRequest request;
  request.path = "/validate";
  request.body = body;
  request.headers["content-type"] = "application/json";
  const server::HttpResponse validated = webhook::AnswerValidation(request);
  if (validated.status == 200)
    CheckAnswer(validated.body, review.ok() ? injection::TextOf(review->request, "uid") : "");
  if (!review.ok()) return 0;
  injection::PodQuestion question;
  question.object = Member(review->request, "object");
  question.ns = injection::TextOf(review->request, "namespace");
  question.path = "/inject/cluster/c/net/n";
  const auto answer = injection::AnswerPod(question, configuration, surroundings, engine);
  CheckAnswer(injection::ReviewText(*review, answer), injection::TextOf(review->request, "uid"));
  return 0;
}
