#include "ca/kubernetes_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/base64.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "ca/cluster_keys.h"
#include "ca/issue.h"
#include "ca/names.h"
#include "ca/secret_file.h"

// Against a server of the test's own; tests/cluster has Kubernetes' signers.
namespace fairlead::ca {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Verb = ApiRequest::Verb;

constexpr char kWeb[] = "spiffe://cluster.local/ns/shop/sa/web";

class KubernetesSignerTest : public testing::Test {
 protected:
  KubernetesSignerTest() {
    options_.ask = [this](const ApiRequest& request) { return Answer(request); };
    options_.signer = "example.com/default";
    options_.domain = "example.com";
    options_.roots_of = [this](const std::string& signer) { return roots_[signer]; };
    options_.patience = std::chrono::milliseconds(300);
    options_.first_pause = std::chrono::milliseconds(5);
    options_.max_lifetime = std::chrono::hours(1);
    options_.default_lifetime = std::chrono::minutes(20);
    roots_["example.com/default"] = roots_["example.com/other"] = CertificatePem(root_);
  }
  // Signs what was approved, as a signer of a cluster does.
  ApiAnswer Answer(const ApiRequest& request) {
    static const char* const kVerbs[] = {"get", "create", "update", "apply", "patch", "json-patch", "delete"};
    calls_.push_back(StrCat(kVerbs[static_cast<int>(request.verb)], " ",
                            request.path.substr(request.path.rfind('/') + 1)));
    if (const auto refusal = refusals_.find(calls_.back()); refusal != refusals_.end())
      return {.status = refusal->second};
    if (request.verb == Verb::kCreate) {
      object_ = *ParseJson(request.body);
      object_["metadata"]["name"] = "csr-1";
    } else if (request.verb == Verb::kUpdate) {
      object_ = *ParseJson(request.body);
      if (sign_) object_["status"]["certificate"] = absl::Base64Escape(Made());
      for (const json& one : conditions_) object_["status"]["conditions"].push_back(one);
    }
    return {.status = absl::OkStatus(), .http_status = 200, .body = JsonText(object_)};
  }
  std::string Made() {
    CertificateSubject subject = subject_;
    subject.not_before = UnixNow() - 60;
    if (subject.not_after == 0) subject.not_after = UnixNow() + 600;
    return StrCat(CertificatePem(*Issue(root_, root_key_, key_, subject)), behind_);
  }
  Signed Sign(const std::string& signer = "", std::chrono::seconds lifetime = {}) {
    calls_.clear();
    return KubernetesSigner(options_).Sign(
        {.csr = csr_, .identities = {kWeb}, .lifetime = lifetime, .signer = signer});
  }

  KubernetesSignerOptions options_;
  const KeyPtr root_key_ = *MakeKey(KeyType::kEcdsaP256), key_ = *MakeKey(KeyType::kEcdsaP256);
  const CertificatePtr root_ = *MakeRoot(root_key_, "signer", UnixNow() - 60, UnixNow() + 86400);
  std::string csr_ = *MakeSigningRequest(key_, kWeb);
  CertificateSubject subject_{.names = {kWeb}};
  std::string behind_;  // the certificate
  std::map<std::string, std::string> roots_;
  std::map<std::string, absl::Status> refusals_;
  std::vector<json> conditions_;
  bool sign_ = true;
  json object_;
  std::vector<std::string> calls_;
};

TEST_F(KubernetesSignerTest, ARequestIsMadeApprovedReadAndDeleted) {
  const Signed made = Sign();
  ASSERT_EQ(made.error, Signed::Error::kNone) << made.message;
  EXPECT_EQ(made.chain.size(), 1u);
  EXPECT_EQ(made.roots, CertificatePem(root_));
  EXPECT_THAT(calls_, ElementsAre("create certificatesigningrequests", "update approval", "get csr-1",
                                  "delete csr-1"));
  EXPECT_EQ(object_["spec"]["signerName"], "example.com/default");
  EXPECT_EQ(object_["spec"]["expirationSeconds"], 1200);
  EXPECT_EQ(*DecodeBase64(object_["spec"]["request"].get<std::string>()), csr_);
  EXPECT_EQ(object_["status"]["conditions"][0]["type"], "Approved");
  EXPECT_EQ(Sign("", std::chrono::seconds(5)).error, Signed::Error::kNone);
  EXPECT_EQ(object_["spec"]["expirationSeconds"], 600) << "the shortest that the API server accepts";
}

TEST_F(KubernetesSignerTest, ARequestMayNameASignerOfTheDomain) {
  EXPECT_EQ(Sign("other").error, Signed::Error::kNone);
  EXPECT_EQ(object_["spec"]["signerName"], "example.com/other");
  EXPECT_EQ(Sign("../kube-apiserver-client").error, Signed::Error::kCsr);
  options_.domain = "";
  EXPECT_THAT(Sign("other").message, HasSubstr("CERT_SIGNER_DOMAIN"));
  options_.signer = "";
  EXPECT_THAT(Sign().message, HasSubstr("K8S_SIGNER"));
  EXPECT_TRUE(calls_.empty());
  EXPECT_THAT(KubernetesSigner(options_).Check().message(), HasSubstr("K8S_SIGNER"));
}

TEST_F(KubernetesSignerTest, OnlyTheCallersNamesAreSentToTheCluster) {
  csr_ = *MakeSigningRequest(key_, "spiffe://cluster.local/ns/istio-system/sa/istiod");
  EXPECT_EQ(Sign().error, Signed::Error::kCsr);
  csr_ = *MakeSigningRequest(key_, "istiod.istio-system.svc");
  EXPECT_EQ(Sign().error, Signed::Error::kCsr);
  csr_ = "none";
  EXPECT_EQ(Sign().error, Signed::Error::kCsr);
  csr_ = *MakeSigningRequest(key_, kWeb);
  EXPECT_EQ(Sign("", std::chrono::hours(2)).error, Signed::Error::kLifetime);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(KubernetesSignerTest, OnlyWhatWasAskedForIsBelieved) {
  subject_.names = {"spiffe://cluster.local/ns/other/sa/web"};
  EXPECT_THAT(Sign().message, HasSubstr("other names"));
  subject_ = {.names = {kWeb}, .authority = true};
  EXPECT_THAT(Sign().message, HasSubstr("sign others"));
  subject_ = {.names = {kWeb}, .not_after = UnixNow() + 80'000};
  EXPECT_THAT(Sign().message, HasSubstr("MAX_WORKLOAD_CERT_TTL"));
  EXPECT_EQ(calls_.back(), "delete csr-1");
}

TEST_F(KubernetesSignerTest, RootsAreThoseOfTheMeshOrOfTheChain) {
  roots_.clear();
  EXPECT_THAT(Sign().message, HasSubstr("certSigners"));
  behind_ = CertificatePem(root_);
  const Signed made = Sign();
  ASSERT_EQ(made.error, Signed::Error::kNone) << made.message;
  EXPECT_EQ(made.roots, behind_);
  const KeyPtr key = *MakeKey(KeyType::kEcdsaP256);
  const std::string another = CertificatePem(*MakeRoot(key, "another", UnixNow() - 60, UnixNow() + 86400));
  roots_["example.com/default"] = another;
  EXPECT_THAT(Sign().message, HasSubstr("the signer's certificate: ")) << "the mesh's root counts";
  options_.roots_file = testing::TempDir() + "/kubernetes-signer-roots-" + std::to_string(getpid());
  ASSERT_TRUE(WritePrivateFile(options_.roots_file, CertificatePem(root_)).ok());
  EXPECT_EQ(Sign().error, Signed::Error::kNone) << "a file goes before";
  std::filesystem::remove(options_.roots_file);
  EXPECT_FALSE(KubernetesSigner(options_).Check().ok());
}

TEST_F(KubernetesSignerTest, WhatGoesWrongIsSaidAndTheRequestIsDeleted) {
  conditions_ = {{{"type", "Denied"}, {"message", "not today"}}};
  sign_ = false;
  EXPECT_THAT(Sign().message, HasSubstr("csr-1 is denied: not today"));
  EXPECT_EQ(calls_.back(), "delete csr-1");
  conditions_ = {{{"type", "Failed"}, {"message", "no key"}}};
  EXPECT_THAT(Sign().message, HasSubstr("failed: no key"));
  conditions_.clear();
  const Signed late = Sign();
  EXPECT_EQ(late.error, Signed::Error::kUnavailable);
  EXPECT_THAT(late.message, HasSubstr("example.com/default has not signed the request csr-1 within"));
  EXPECT_EQ(calls_.back(), "delete csr-1");
  refusals_["update approval"] = absl::PermissionDeniedError("may not approve");
  EXPECT_THAT(Sign().message, HasSubstr("cannot be approved: may not approve"));
  EXPECT_EQ(calls_.back(), "delete csr-1");
  refusals_["create certificatesigningrequests"] = absl::PermissionDeniedError("may not create");
  EXPECT_THAT(Sign().message, HasSubstr("cannot be made: may not create"));
  refusals_["create certificatesigningrequests"] = absl::UnavailableError("down");
  EXPECT_EQ(Sign().error, Signed::Error::kUnavailable);
}

TEST(ClusterKeys, TheApiServerHasTheKeysOfItsOwnIssuer) {
  std::vector<std::string> others;
  const auto fetch = [&others](const std::string& issuer) {
    return ClusterKeys(
        issuer,
        [](const ApiRequest& request) -> ApiAnswer {
          const bool document = request.path == "/.well-known/openid-configuration";
          return {.status = absl::OkStatus(),
                  .body = document
                              ? R"({"issuer":"https://cluster","jwks_uri":"https://10.0.0.1/openid/v1/jwks"})"
                              : "keys"};
        },
        [&others](const std::string& url) -> absl::StatusOr<std::string> {
          others.push_back(url);
          return "other";
        });
  };
  const Fetch own = fetch("https://cluster");
  EXPECT_THAT(*own("https://cluster/.well-known/openid-configuration"), HasSubstr("jwks_uri"));
  EXPECT_EQ(*own("https://10.0.0.1/openid/v1/jwks"), "keys");
  EXPECT_TRUE(others.empty());
  const Fetch another = fetch("https://elsewhere");
  EXPECT_EQ(*another("https://elsewhere/.well-known/openid-configuration"), "other");
  EXPECT_EQ(*another("https://10.0.0.1/openid/v1/jwks"), "other");
}

}  // namespace
}  // namespace fairlead::ca
