#include "ca/token_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::ca {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Part(const std::string& text) {
  std::string out;
  absl::WebSafeBase64Escape(text, &out);
  return out;
}
// By its own words alone.
std::string Token(const std::string& claims) { return StrCat(Part("{}"), ".", Part(claims), ".", Part("s")); }

class TokenReviewTest : public testing::Test {
 protected:
  TokenReviewTest() {
    TokenReviewOptions options;
    options.audiences = {"istio-ca"};
    options.own_cluster = "main";
    options.most_kept = 3;
    options.now = [this] { return now_; };
    options.clock = [this] { return clock_; };
    options.ask = [this](const std::string& cluster, const kube::ApiRequest& request) {
      asked_.push_back(cluster);
      token_ = JsonString((*ParseJson(request.body))["spec"], "token");
      return answer_;
    };
    authenticator_ = NewTokenReviewAuthenticator(std::move(options),
                                                 [] { return std::vector<std::string>{"cluster.local"}; });
    Accept();
  }
  void Accept() {
    answer_.status = absl::OkStatus();
    answer_.body = R"({"status":{"authenticated":true,"audiences":["istio-ca"],"user":{
      "username":"system:serviceaccount:shop:web","groups":["system:serviceaccounts"],
      "extra":{"authentication.kubernetes.io/pod-name":["web-0"]}}}})";
  }
  void Refuse() { answer_.body = R"({"status":{"authenticated":false,"error":"not known"}})"; }
  absl::StatusOr<std::optional<Caller>> Try(const std::string& token, const std::string& cluster = "") {
    return authenticator_->Authenticate(With(token, cluster));
  }
  static Credentials With(const std::string& token, const std::string& cluster = "") {
    Credentials credentials;
    credentials.authorization = token.empty() ? "" : "Bearer " + token;
    credentials.cluster = cluster;
    return credentials;
  }

  int64_t now_ = 1000;
  Clock::time_point clock_ = Clock::now();
  kube::ApiAnswer answer_;
  std::vector<std::string> asked_;
  std::string token_;
  std::unique_ptr<Authenticator> authenticator_;
  const std::string web_ = Token(R"({"sub":"system:serviceaccount:shop:web","exp":5000})");
};

TEST_F(TokenReviewTest, TheApiServerSaysWhoseATokenIs) {
  const auto caller = Try(web_);
  ASSERT_TRUE(caller.ok() && *caller) << caller.status();
  EXPECT_THAT((*caller)->identities, ElementsAre("spiffe://cluster.local/ns/shop/sa/web"));
  EXPECT_EQ((*caller)->pod, "web-0");
  EXPECT_EQ(token_, web_);
  EXPECT_THAT(asked_, ElementsAre(""));
  EXPECT_FALSE(*Try("")) << "no token is no proof of this kind";
}

TEST_F(TokenReviewTest, WhatCannotBeATokenOfAnAccountIsNotAskedAbout) {
  for (const std::string& token :
       {std::string("opaque"), Token("[]"), Token(R"({"sub":"somebody"})"), std::string(20'000, 'a'),
        Token(R"({"sub":"system:serviceaccount:shop:web","exp":1000})"),
        Token(R"({"sub":"system:serviceaccount:shop:web","exp":-1})")}) {
    EXPECT_FALSE(authenticator_->MayWait(With(token)));
    EXPECT_EQ(Try(token).status().code(), absl::StatusCode::kUnauthenticated) << token.substr(0, 99);
  }
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(TokenReviewTest, AVerdictIsKeptForAShortTime) {
  EXPECT_TRUE(authenticator_->MayWait(With(web_)));
  EXPECT_TRUE(Try(web_).ok());
  EXPECT_FALSE(authenticator_->MayWait(With(web_)));
  Refuse();
  EXPECT_TRUE(Try(web_).ok()) << "as it was said before";
  clock_ += std::chrono::seconds(31);
  EXPECT_FALSE(Try(web_).ok());
  Accept();
  EXPECT_FALSE(Try(web_).ok()) << "a refusal, too";
  clock_ += std::chrono::seconds(6);
  EXPECT_TRUE(Try(web_).ok());
  EXPECT_EQ(asked_.size(), 3u);
}

TEST_F(TokenReviewTest, ATokenEndsWhenItSays) {
  now_ = 4990;
  EXPECT_TRUE(Try(web_).ok());
  clock_ += std::chrono::seconds(11);
  EXPECT_TRUE(authenticator_->MayWait(With(web_))) << "it is not kept beyond its end";
  now_ = 5001;
  EXPECT_THAT(Try(web_).status().message(), HasSubstr("expired"));
}

TEST_F(TokenReviewTest, TroubleWithAServerIsNoVerdict) {
  answer_.status = absl::UnavailableError("slow");
  EXPECT_THAT(Try(web_).status().message(), HasSubstr("cannot be asked: slow"));
  answer_.status = absl::UnauthenticatedError("who are you");
  EXPECT_FALSE(Try(web_).ok());
  Accept();
  EXPECT_TRUE(Try(web_).ok()) << "nothing of it was kept";
}

TEST_F(TokenReviewTest, AClustersOwnServerIsAsked) {
  const auto caller = Try(web_, "east");
  ASSERT_TRUE(caller.ok());
  EXPECT_EQ((*caller)->cluster, "east");
  EXPECT_TRUE(Try(web_, "main").ok());
  EXPECT_EQ((*Try(web_, ""))->cluster, "") << "one verdict for the own cluster, with its name or without";
  EXPECT_THAT(asked_, ElementsAre("east", ""));
  answer_.status = absl::NotFoundError("cluster west is not known");
  EXPECT_THAT(Try(web_, "west").status().message(), HasSubstr("west is not known"));
}

TEST_F(TokenReviewTest, FewVerdictsAreKept) {
  for (int i = 0; i < 10; ++i) {
    clock_ += std::chrono::milliseconds(1);
    EXPECT_TRUE(Try(Token(StrCat(R"({"sub":"system:serviceaccount:shop:web","n":)", i, "}"))).ok());
  }
  int kept = 0;
  for (int i = 0; i < 10; ++i)
    kept += !authenticator_->MayWait(
        With(Token(StrCat(R"({"sub":"system:serviceaccount:shop:web","n":)", i, "}"))));
  EXPECT_EQ(kept, 3);
}

TEST_F(TokenReviewTest, WhoMustBeAskedAboutIsKnownBefore) {
  Authenticators all;
  all.Add(NewCertificateAuthenticator([] { return std::vector<std::string>{"cluster.local"}; }));
  all.Add(std::move(authenticator_));
  EXPECT_FALSE(all.AuthenticateAtOnce(With(web_)));
  EXPECT_TRUE(all.Authenticate(With(web_)).ok());
  EXPECT_TRUE(all.AuthenticateAtOnce(With(web_)));
  Credentials shown = With(Token(R"({"sub":"system:serviceaccount:shop:other"})"));
  shown.verified_certificate = true;
  shown.certificate_uris = {"spiffe://cluster.local/ns/a/sa/b"};
  const auto at_once = all.AuthenticateAtOnce(shown);
  ASSERT_TRUE(at_once) << "its certificate suffices";
  EXPECT_THAT((*at_once)->identities, ElementsAre("spiffe://cluster.local/ns/a/sa/b"));
}

}  // namespace
}  // namespace fairlead::ca
