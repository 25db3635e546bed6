#include "kube/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

using testing::HasSubstr;

ApiAnswer Answer(const std::string& status) {
  return {.status = absl::OkStatus(), .http_status = 201, .body = StrCat(R"({"status":)", status, "}")};
}

constexpr char kGood[] = R"({"authenticated":true,"audiences":["istio-ca"],"user":{
  "username":"system:serviceaccount:shop:web","groups":["system:serviceaccounts"],"extra":{
  "authentication.kubernetes.io/pod-name":["web-0"],"authentication.kubernetes.io/pod-uid":["u"],
  "authentication.kubernetes.io/node-name":["n1"]}}})";

TEST(TokenReview, TheServerIsAskedAboutTheTokenAndItsAudience) {
  const ApiRequest request = TokenReviewRequest("t", {"istio-ca", "other"});
  EXPECT_EQ(request.path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(*ParseJson(request.body), *ParseJson(R"({"apiVersion":"authentication.k8s.io/v1",
      "kind":"TokenReview","spec":{"token":"t","audiences":["istio-ca","other"]}})"));
}

TEST(TokenReview, AnAccountAndItsPodComeOfIt) {
  const auto token = ReadTokenReview(Answer(kGood), {"other", "istio-ca"});
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->ns, "shop");
  EXPECT_EQ(token->service_account, "web");
  EXPECT_EQ(token->pod, "web-0");
  EXPECT_EQ(token->pod_uid, "u");
  EXPECT_EQ(token->node, "n1");
}

TEST(TokenReview, WhatDoesNotHoldIsUnauthenticated) {
  const auto why = [](const std::string& status) {
    const auto token = ReadTokenReview(Answer(status), {"istio-ca"});
    EXPECT_EQ(token.status().code(), absl::StatusCode::kUnauthenticated) << status;
    return std::string(token.status().message());
  };
  EXPECT_THAT(why(R"({"error":"it has expired"})"), HasSubstr("it has expired"));
  EXPECT_THAT(why(R"({"authenticated":false})"), HasSubstr("does not hold"));
  EXPECT_THAT(why(R"({"authenticated":"true"})"), HasSubstr("does not hold"));
  EXPECT_THAT(why(ReplaceAll(kGood, "istio-ca", "else")), HasSubstr("another audience"));
  EXPECT_THAT(why(ReplaceAll(kGood, R"("audiences":["istio-ca"],)", "")), HasSubstr("another audience"));
  EXPECT_THAT(why(ReplaceAll(kGood, "system:serviceaccounts", "users")), HasSubstr("service account"));
  EXPECT_THAT(why(ReplaceAll(kGood, "account:shop:web", "account:shop")), HasSubstr("service account"));
  EXPECT_THAT(why(R"({"authenticated":true,"audiences":["istio-ca"],"user":[]})"),
              HasSubstr("service account"));
}

TEST(TokenReview, AServerThatSaysNothingIsNoVerdict) {
  ApiAnswer none;
  none.status = absl::UnavailableError("no answer");
  EXPECT_EQ(ReadTokenReview(none, {}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReadTokenReview({.status = absl::OkStatus(), .body = "[]"}, {}).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(AccessReview, TheServerSaysWhetherAnAccountMayListSecrets) {
  const auto body = *ParseJson(SecretReviewRequest("shop", "web").body);
  EXPECT_EQ(body["spec"], *ParseJson(R"({"user":"system:serviceaccount:shop:web",
      "resourceAttributes":{"namespace":"shop","verb":"list","resource":"secrets"}})"));
  EXPECT_TRUE(*ReadAccessReview(Answer(R"({"allowed":true})")));
  EXPECT_FALSE(*ReadAccessReview(Answer(R"({"allowed":false})")));
  EXPECT_FALSE(*ReadAccessReview(Answer(R"({"allowed":true,"denied":true})")));
  EXPECT_FALSE(*ReadAccessReview(Answer(R"({"allowed":1})")));
  EXPECT_FALSE(ReadAccessReview({.status = absl::PermissionDeniedError("")}).ok());
}

}  // namespace
}  // namespace fairlead::kube
