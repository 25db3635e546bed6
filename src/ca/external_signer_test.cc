#include "ca/external_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/issue.h"
#include "ca/secret_file.h"
#include "ca/signing_request.h"
#include "server/http_server.h"

// Against a signer of the test's own; tests/certificates has CFSSL's.
namespace fairlead::ca {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kWeb[] = "spiffe://cluster.local/ns/shop/sa/web";

struct Root {
  KeyPtr key = *MakeKey(KeyType::kEcdsaP256);
  CertificatePtr certificate = *MakeRoot(key, "signer", UnixNow() - 60, UnixNow() + 86400);
};

class ExternalSignerTest : public testing::Test {
 protected:
  ExternalSignerTest() {
    EXPECT_TRUE(MakePrivateFolder(folder_).ok());
    EXPECT_TRUE(WritePrivateFile(folder_ + "/root-cert.pem", CertificatePem(root_.certificate)).ok());
    EXPECT_TRUE(WritePrivateFile(folder_ + "/token", "secret\n").ok());
    server_.Post("/sign", [this](const server::HttpRequest& request) {
      asked_ = *ParseJson(request.body);
      headers_ = request.headers;
      return answer_();
    });
    EXPECT_TRUE(server_.Start("127.0.0.1:0").ok());
  }
  ~ExternalSignerTest() override {
    server_.Stop();
    std::filesystem::remove_all(folder_);
  }

  ExternalSignerOptions Options() const {
    return {.url = StrCat("http://127.0.0.1:", server_.port(), "/sign"),
            .profile = "workloads",
            .token_file = folder_ + "/token",
            .tls_roots = "",
            .roots_file = folder_ + "/root-cert.pem",
            .chain_file = folder_ + "/cert-chain.pem",
            .max_lifetime = std::chrono::hours(1)};
  }
  Signed Sign() {
    return ExternalSigner(Options()).Sign(
        {.csr = csr_, .identities = {kWeb}, .lifetime = std::chrono::seconds(60)});
  }
  // A certificate of the root as the signer would give it, but for what `subject` says.
  std::string Given(CertificateSubject subject, const KeyPtr& key, const Root& root) const {
    subject.not_before = UnixNow() - 60;
    if (subject.not_after == 0) subject.not_after = UnixNow() + 60;
    return CertificatePem(*Issue(root.certificate, root.key, key, subject));
  }
  void Answer(const std::string& certificate) {
    answer_ = [certificate] {
      return server::HttpResponse{
          200, JsonText(json{{"success", true}, {"result", {{"certificate", certificate}}}})};
    };
  }
  std::string Refusal() {
    const Signed made = Sign();
    EXPECT_EQ(made.error, Signed::Error::kFailed);
    EXPECT_TRUE(made.chain.empty());
    return made.message;
  }

  const std::string folder_ = testing::TempDir() + "/external-signer-" + std::to_string(getpid());
  const Root root_;
  const KeyPtr key_ = *MakeKey(KeyType::kEcdsaP256);
  const std::string csr_ = *MakeSigningRequest(key_, "spiffe://cluster.local/ns/istio-system/sa/istiod");
  std::function<server::HttpResponse()> answer_;
  json asked_;
  std::map<std::string, std::string> headers_;
  server::HttpServer server_;
};

TEST_F(ExternalSignerTest, TheSignerIsToldWhomACertificateIsFor) {
  const std::string given = Given({.names = {kWeb}}, key_, root_);
  Answer(given);
  const Signed made = Sign();
  ASSERT_EQ(made.error, Signed::Error::kNone) << made.message;
  EXPECT_THAT(made.chain, testing::ElementsAre(given));
  EXPECT_EQ(made.roots, CertificatePem(root_.certificate));
  EXPECT_EQ(
      asked_,
      (json{{"certificate_request", csr_}, {"hosts", {kWeb}}, {"profile", "workloads"}, {"lifetime", 60}}));
  EXPECT_EQ(headers_["authorization"], "Bearer secret");
}

TEST_F(ExternalSignerTest, OnlyWhatWasAskedForIsBelieved) {
  Answer(Given({.names = {kWeb}}, *MakeKey(KeyType::kEcdsaP256), root_));
  EXPECT_THAT(Refusal(), HasSubstr("another key"));
  Answer(Given({.names = {"spiffe://cluster.local/ns/other/sa/web"}}, key_, root_));
  EXPECT_THAT(Refusal(), HasSubstr("other names"));
  Answer(Given({.names = {kWeb, "istiod.istio-system.svc"}}, key_, root_));
  EXPECT_THAT(Refusal(), HasSubstr("other names"));
  Answer(Given({.names = {kWeb}, .authority = true}, key_, root_));
  EXPECT_THAT(Refusal(), HasSubstr("sign others"));
  Answer(Given({.names = {kWeb}, .not_after = UnixNow() + 7200}, key_, root_));
  EXPECT_THAT(Refusal(), HasSubstr("MAX_WORKLOAD_CERT_TTL"));
  Answer(Given({.names = {kWeb}}, key_, Root()));
  EXPECT_THAT(Refusal(), HasSubstr("the signer's certificate: "));
  Answer("no certificate");
  EXPECT_THAT(Refusal(), HasSubstr("cannot be read"));
}

TEST_F(ExternalSignerTest, WhatLeadsToARootGoesAlong) {
  Root below;
  below.certificate = *Issue(root_.certificate, root_.key, below.key,
                             {.names = {"below"},
                              .common_name = true,
                              .not_before = UnixNow() - 60,
                              .not_after = UnixNow() + 600,
                              .authority = true});
  const std::string leaf = Given({.names = {kWeb}}, key_, below), between = CertificatePem(below.certificate);
  Answer(leaf + between);
  EXPECT_THAT(Sign().chain, testing::ElementsAre(leaf, between));
  Answer(leaf);
  EXPECT_EQ(Sign().error, Signed::Error::kFailed);
  ASSERT_TRUE(WritePrivateFile(folder_ + "/cert-chain.pem", between).ok());
  EXPECT_THAT(Sign().chain, testing::ElementsAre(leaf, between));
}

TEST_F(ExternalSignerTest, ASignerThatRefusesOrIsAway) {
  answer_ = [] { return server::HttpResponse{200, R"({"success":false,"errors":[{"message":"no"}]})"}; };
  EXPECT_THAT(Refusal(), HasSubstr("refuses"));
  answer_ = [] { return server::HttpResponse{403, "no"}; };
  EXPECT_THAT(Refusal(), HasSubstr("status 403"));
  answer_ = [] { return server::HttpResponse{200, std::string(1 << 20, '[')}; };
  EXPECT_EQ(Sign().error, Signed::Error::kUnavailable);
  server_.Stop();
  EXPECT_EQ(Sign().error, Signed::Error::kUnavailable);
}

TEST_F(ExternalSignerTest, WhatIsNoProperRequestIsNotPassedOn) {
  ExternalSigner signer(Options());
  EXPECT_EQ(signer.Sign({.csr = "x", .identities = {kWeb}}).error, Signed::Error::kCsr);
  EXPECT_EQ(signer.Sign({.csr = csr_, .identities = {kWeb}, .lifetime = std::chrono::hours(2)}).error,
            Signed::Error::kLifetime);
  EXPECT_TRUE(asked_.is_null());
}

TEST_F(ExternalSignerTest, SignersElsewhereAreAskedByHttpsAlone) {
  ExternalSignerOptions options = Options();
  EXPECT_TRUE(ExternalSigner(options).Check().ok());
  options.url = "http://signer.example/sign";
  EXPECT_EQ(ExternalSigner(options).Check().code(), absl::StatusCode::kInvalidArgument);
  options = Options();
  options.roots_file = folder_ + "/none";
  EXPECT_FALSE(ExternalSigner(options).Check().ok());
}

}  // namespace
}  // namespace fairlead::ca
