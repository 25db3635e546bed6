#include "controllers/webhook_patcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "controllers/webhook_watch.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr char kMutating[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr char kValidating[] = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr char kGateways[] = "/apis/networking.istio.io/v1/gateways";
constexpr char kLabels[] = R"("labels":{"istio.io/rev":"default"})";

std::string Pem(const std::string& text) {
  return StrCat("-----BEGIN CERTIFICATE-----\n", absl::Base64Escape(text), "\n-----END CERTIFICATE-----\n");
}
std::string Bundle(const std::string& pem) {
  return StrCat(R"("caBundle":")", absl::Base64Escape(pem), "\"");
}

std::string Hook(const std::string& name, const std::string& bundle, const std::string& policy = "Fail") {
  return StrCat(R"({"name":")", name, R"(","failurePolicy":")", policy, R"(","clientConfig":{)",
                bundle.empty() ? "" : Bundle(bundle), "}}");
}

class WebhookPatcherTest : public ::testing::Test {
 protected:
  WebhookPatcherTest() {
    server_.Serve(kMutating);
    server_.Serve(kValidating);
    access_.server = server_.url();
    access_.proxy = "";
    writer_ = std::make_unique<kube::ApiWriter>(
        kube::ApiWriter::Options{.first_backoff = 5ms, .most_backoff = 20ms}, access_, &client_);
    options_.first_retry = 10ms;
  }
  ~WebhookPatcherTest() override {
    if (watch_ != nullptr) watch_->Stop();
    writer_->Stop();
  }
  void Start() {
    patcher_ = std::make_unique<WebhookPatcher>(options_, writer_.get());
    watch_ = std::make_unique<WebhookWatch>(WebhookWatch::Options(), access_, &client_, patcher_.get());
    watch_->Start();
    patcher_->SetBundle(Pem("one"));
  }
  void Put(const char* path, const std::string& name, const std::string& hooks) {
    server_.Put(path, "", name, StrCat(R"("webhooks":[)", hooks, "]"), kLabels);
  }
  std::string Get(const char* path, const std::string& name) { return server_.Get(path, "", name); }
  bool WaitFor(const char* path, const std::string& name, const std::string& text) {
    return Eventually([&] { return Get(path, name).find(text) != std::string::npos; });
  }
  size_t Patches() { return server_.CountRequests("PATCH"); }

  source::ApiServerFake server_;
  fetch::Client client_;
  kube::ServerAccess access_;
  WebhookPatcher::Options options_;
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<WebhookPatcher> patcher_;
  std::unique_ptr<WebhookWatch> watch_;
};

TEST_F(WebhookPatcherTest, WebhooksThatInjectGetTheBundleAndOthersDoNot) {
  Put(kMutating, "injector",
      StrCat(Hook("rev.namespace.sidecar-injector.istio.io", ""), ",", Hook("other.example", "")));
  Start();
  ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
  EXPECT_THAT(Get(kMutating, "injector"),
              HasSubstr(R"({"clientConfig":{},"failurePolicy":"Fail","name":"other)"));
  EXPECT_THAT(server_.Requests(), testing::Contains(HasSubstr("labelSelector=istio.io%2Frev%3Ddefault")));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Patches(), 1u);
}

TEST_F(WebhookPatcherTest, WhatIsEmptiedIsRepairedAndNewRootsArePutThere) {
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", ""));
  Start();
  ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", ""));
  ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", Pem("somebody's")));
  ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
  patcher_->SetBundle(Pem("two"));
  ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("two"))));
  patcher_->SetBundle("no certificate");
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(Get(kMutating, "injector"), HasSubstr(Bundle(Pem("two"))));
}

TEST_F(WebhookPatcherTest, TheSameCertificatesInAnotherTextAreLeft) {
  const std::string theirs = StrCat("# a root\n\n", Pem("one"), "\n");
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", theirs));
  Start();
  Put(kMutating, "later", Hook("sidecar-injector.istio.io", ""));
  ASSERT_TRUE(WaitFor(kMutating, "later", Bundle(Pem("one"))));
  EXPECT_THAT(Get(kMutating, "injector"), HasSubstr(Bundle(theirs)));
}

TEST_F(WebhookPatcherTest, AFightIsFoughtEverMoreSlowly) {
  options_.patience = 2;
  options_.first_retry = 300ms;
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", ""));
  Start();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
    Put(kMutating, "injector", Hook("sidecar-injector.istio.io", Pem("two")));
  }
  std::this_thread::sleep_for(100ms);
  EXPECT_THAT(Get(kMutating, "injector"), HasSubstr(Bundle(Pem("two")))) << "for a while";
  EXPECT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
}

TEST_F(WebhookPatcherTest, ValidationFailsClosedOnceAnInvalidObjectWasRefused) {
  server_.Serve(kGateways);
  Put(kValidating, "validator", Hook("rev.validation.istio.io", "", "Ignore"));
  server_.Refuse(StrCat("/apis/networking.istio.io/v1/namespaces/istio-system/gateways"), 403);
  Start();
  ASSERT_TRUE(WaitFor(kValidating, "validator", Bundle(Pem("one"))));
  ASSERT_TRUE(Eventually([&] { return server_.CountRequests("dryRun=All") >= 2; })) << "it is tried again";
  EXPECT_THAT(Get(kValidating, "validator"), HasSubstr("Ignore")) << "it was refused, but not by the webhook";
  server_.RefuseWrites(400, 1, R"(admission webhook "rev.validation.istio.io" denied the request: x)");
  ASSERT_TRUE(WaitFor(kValidating, "validator", R"("failurePolicy":"Fail")"));
  Put(kValidating, "validator", Hook("rev.validation.istio.io", Pem("one"), "Ignore"));
  EXPECT_TRUE(WaitFor(kValidating, "validator", R"("failurePolicy":"Fail")"));
}

TEST_F(WebhookPatcherTest, AnInvalidObjectThatIsAdmittedLeavesThePolicy) {
  server_.Serve(kGateways);
  Put(kValidating, "validator", Hook("rev.validation.istio.io", "", "Ignore"));
  Start();
  ASSERT_TRUE(Eventually([&] { return server_.CountRequests("dryRun=All") >= 1; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(Get(kValidating, "validator"), HasSubstr("Ignore"));
}

TEST_F(WebhookPatcherTest, ARefusedPatchIsTriedLater) {
  Put(kMutating, "injector", Hook("sidecar-injector.istio.io", ""));
  server_.RefuseWrites(403, 2);
  Start();
  EXPECT_TRUE(WaitFor(kMutating, "injector", Bundle(Pem("one"))));
}

TEST(WebhookConfiguration, TextsAreComparedByTheirCertificates) {
  EXPECT_TRUE(HaveSameCertificates(Pem("a") + Pem("b"), Pem("b") + "text\n" + Pem("a")));
  EXPECT_FALSE(HaveSameCertificates(Pem("a"), Pem("a") + Pem("b")));
  EXPECT_FALSE(HaveSameCertificates(Pem("a"), ""));
  EXPECT_FALSE(HasCertificate("-----BEGIN CERTIFICATE-----\n????"));
}

}  // namespace
}  // namespace fairlead::controllers
