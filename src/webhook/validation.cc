#include "webhook/validation.h"

#include <string>
#include <vector>

#include "base/json.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "injection/review.h"
#include "injection/typed_json.h"
#include "validate/verdict.h"
#include "webhook/review_request.h"

namespace fairlead::webhook {
namespace {

using injection::Member;
using injection::TextOf;

metrics::Counter& Passed() {
  return metrics::GetCounter("galley_validation_passed", "Objects that were found valid.");
}
metrics::Counter& Failed() {
  return metrics::GetCounter("galley_validation_failed", "Objects that were found not valid.");
}

std::string TextOfDiagnostic(const config::Diagnostic& one) {
  return one.path.empty() ? one.message : StrCat(one.path, ": ", one.message);
}

void Judge(const validate::Verdict& verdict, injection::ReviewAnswer* answer) {
  std::vector<std::string> errors;
  for (const config::Diagnostic& one : verdict.diagnostics) {
    (one.severity == config::Severity::kError ? errors : answer->warnings).push_back(TextOfDiagnostic(one));
  }
  if (verdict.valid()) return;
  answer->allowed = false;
  StrAppend(&answer->error, answer->error.empty() ? "configuration is invalid: " : "; ", Join(errors, "; "));
}

injection::ReviewAnswer Decide(const nlohmann::json& request) {
  injection::ReviewAnswer answer;
  answer.allowed = true;
  const std::string operation = TextOf(request, "operation");
  if (operation != "CREATE" && operation != "UPDATE") return answer;
  for (const validate::Verdict& verdict : validate::Validate(JsonText(Member(request, "object")), "")) {
    Judge(verdict, &answer);
  }
  if (!answer.allowed && Member(request, "dryRun") == true) answer.error += " (dry run)";
  (answer.allowed ? Passed() : Failed()).Add();
  return answer;
}

}  // namespace

void ShowValidationMetrics() {
  Passed();
  Failed();
}

server::HttpResponse AnswerValidation(const server::HttpRequest& request) {
  if (auto refused = CheckReviewRequest(request)) return *std::move(refused);
  const absl::StatusOr<injection::Review> review = injection::ReadReview(request.body);
  if (!review.ok()) {
    return JsonResponse(
        injection::NoReviewText(StrCat("could not decode body: ", FromAbsl(review.status().message()))));
  }
  return JsonResponse(injection::ReviewText(*review, Decide(review->request)));
}

}  // namespace fairlead::webhook
