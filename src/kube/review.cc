#include "kube/review.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kLimit{4};
constexpr int kTries = 2;  // within the patience of whoever waits for the verdict
constexpr char kTokenReviews[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kAccessReviews[] = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kAccounts[] = "system:serviceaccounts";
// Source: k8s.io/apiserver/pkg/authentication/serviceaccount.
constexpr char kPodName[] = "authentication.kubernetes.io/pod-name";
constexpr char kPodUid[] = "authentication.kubernetes.io/pod-uid";
constexpr char kNodeName[] = "authentication.kubernetes.io/node-name";

const Json& Member(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

bool Has(const Json& list, std::string_view text) {
  return list.is_array() && std::any_of(list.begin(), list.end(), [text](const Json& one) {
           return one.is_string() && one.get_ref<const std::string&>() == text;
         });
}

std::string Extra(const Json& user, const char* key) {
  const Json& values = Member(Member(user, "extra"), key);
  return values.is_array() && !values.empty() && values.front().is_string()
             ? values.front().get<std::string>()
             : "";
}

ApiRequest Review(const char* path, Json body) {
  ApiRequest request;
  request.verb = ApiRequest::Verb::kCreate;
  request.path = path;
  request.body = JsonText(body);
  request.tries = kTries;
  request.limit = kLimit;
  return request;
}

// The status of an answered review.
absl::StatusOr<Json> StatusIn(const ApiAnswer& answer) {
  if (!answer.status.ok()) return answer.status;
  const auto review = ParseJson(answer.body);
  if (!review || !Member(*review, "status").is_object())
    return absl::UnavailableError("the API server's answer is no review");
  return Member(*review, "status");
}

absl::Status Refused(std::string_view why) { return absl::UnauthenticatedError(StrCat("the token ", why)); }

}  // namespace

ApiRequest TokenReviewRequest(std::string_view token, const std::vector<std::string>& audiences) {
  Json spec = {{"token", std::string(token)}};
  if (!audiences.empty()) spec["audiences"] = audiences;
  return Review(
      kTokenReviews,
      {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", std::move(spec)}});
}

absl::StatusOr<ReviewedToken> ReadTokenReview(const ApiAnswer& answer,
                                              const std::vector<std::string>& audiences) {
  const auto status = StatusIn(answer);
  if (!status.ok()) return status.status();
  if (const std::string error = JsonString(*status, "error"); !error.empty())
    return Refused(StrCat("does not hold: ", Excerpt(error)));
  if (Member(*status, "authenticated") != true) return Refused("does not hold");
  // A server that knows no audiences says nothing of them.
  const Json& granted = Member(*status, "audiences");
  if (!audiences.empty() && std::none_of(audiences.begin(), audiences.end(),
                                         [&](const std::string& one) { return Has(granted, one); }))
    return Refused("is for another audience");
  const Json& user = Member(*status, "user");
  const std::string name = user.is_object() ? JsonString(user, "username") : "";
  const std::vector<std::string_view> parts = Split(name, ':');
  if (!Has(Member(user, "groups"), kAccounts) || parts.size() != 4 || parts[0] != "system" ||
      parts[1] != "serviceaccount" || parts[2].empty() || parts[3].empty())
    return Refused("is not of a service account");
  return ReviewedToken{std::string(parts[2]), std::string(parts[3]), Extra(user, kPodName),
                       Extra(user, kPodUid), Extra(user, kNodeName)};
}

// Source: Istio's CredentialsController.Authorize.
ApiRequest SecretReviewRequest(std::string_view ns, std::string_view service_account) {
  const Json attributes = {{"namespace", std::string(ns)}, {"verb", "list"}, {"resource", "secrets"}};
  return Review(kAccessReviews, {{"apiVersion", "authorization.k8s.io/v1"},
                                 {"kind", "SubjectAccessReview"},
                                 {"spec",
                                  {{"user", StrCat("system:serviceaccount:", ns, ":", service_account)},
                                   {"resourceAttributes", attributes}}}});
}

absl::StatusOr<bool> ReadAccessReview(const ApiAnswer& answer) {
  const auto status = StatusIn(answer);
  if (!status.ok()) return status.status();
  return Member(*status, "allowed") == true && Member(*status, "denied") != true;
}

}  // namespace fairlead::kube
