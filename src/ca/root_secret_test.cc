#include "ca/root_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "ca/keeper.h"

namespace fairlead::ca {
namespace {

using kube::ApiAnswer;
using kube::ApiRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;
using Verb = ApiRequest::Verb;

constexpr int64_t kNow = 1'900'000'000;

std::string Encoded(const std::string& text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
  out.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                                 reinterpret_cast<const unsigned char*>(text.data()),
                                                 static_cast<int>(text.size()))));
  return out;
}

// Secrets as an API server keeps them.
class SecretsFake {
 public:
  std::function<ApiAnswer(ApiRequest)> Ask() {
    return [this](const ApiRequest& request) { return Answer(request); };
  }
  ApiAnswer Answer(const ApiRequest& request) {
    std::lock_guard lock(mutex_);
    requests.push_back(StrCat(static_cast<int>(request.verb), " ", request.path));
    if (!refusal.ok()) return {.status = refusal};
    const Json body = ParseJson(request.body).value_or(Json());
    const std::string name = request.verb == Verb::kCreate ? JsonString(body["metadata"], "name")
                                                           : request.path.substr(request.path.rfind('/') + 1);
    const bool there = secrets.contains(name);
    if (request.verb == Verb::kCreate && there) return {.status = absl::AlreadyExistsError("taken")};
    if (request.verb != Verb::kCreate && !there) return {.status = absl::NotFoundError("none")};
    if (request.verb != Verb::kGet) {
      if (before_write) std::exchange(before_write, nullptr)();
      const std::string wanted = JsonString(body.value("metadata", Json::object()), "resourceVersion");
      if (!wanted.empty() && wanted != JsonString(secrets[name]["metadata"], "resourceVersion"))
        return {.status = absl::AbortedError("conflict")};
      for (const auto& [key, value] : body.at("stringData").items())
        secrets[name]["data"][key] = Encoded(value.get<std::string>());
      Touch(name);
    }
    return {.status = absl::OkStatus(), .body = JsonText(secrets[name])};
  }
  void Touch(const std::string& name) { secrets[name]["metadata"]["resourceVersion"] = StrCat(++version_); }
  void Put(const std::string& name, const std::map<std::string, std::string>& data) {
    secrets[name] = Json();
    for (const auto& [key, value] : data) secrets[name]["data"][key] = Encoded(value);
    Touch(name);
  }

  std::map<std::string, Json> secrets;
  std::vector<std::string> requests;
  absl::Status refusal;
  std::function<void()> before_write;

 private:
  std::mutex mutex_;
  uint64_t version_ = 0;
};

class RootSecretTest : public ::testing::Test {
 protected:
  RootSecretTest() { options_.ask = server_.Ask(); }
  RootSecret Make() { return RootSecret(options_); }
  static std::map<std::string, std::string> DataOf(const Bundle& bundle) {
    return {{"ca-cert.pem", CertificatePem(bundle.certificate)},
            {"ca-key.pem", PrivateKeyPem(bundle.key)},
            {"root-cert.pem", CertificatePems(bundle.roots)},
            {"cert-chain.pem", ""}};
  }

  SecretsFake server_;
  RootSecretOptions options_;
};

TEST_F(RootSecretTest, TheFirstReplicaMakesItAndTheOthersReadIt) {
  RootSecret one = Make(), two = Make();
  const auto made = one.Load(kNow);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE((*made)->self_signed);
  const auto read = two.Load(kNow);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(SameCertificate((*made)->certificate, (*read)->certificate));
  EXPECT_THAT((*read)->roots, SizeIs(1));
  EXPECT_THAT(server_.secrets, SizeIs(1));
  EXPECT_EQ(two.Place(), "Secret istio-system/istio-ca-secret");
}

TEST_F(RootSecretTest, OfManyThatStartAtOnceOneMakesIt) {
  std::vector<absl::StatusOr<BundlePtr>> bundles(6, absl::UnknownError(""));
  std::vector<std::thread> threads;
  for (auto& bundle : bundles) threads.emplace_back([&] { bundle = Make().Load(kNow); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& bundle : bundles) {
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_TRUE(SameCertificate((*bundle)->certificate, (*bundles[0])->certificate));
  }
}

TEST_F(RootSecretTest, AnOperatorsAuthorityGoesFirst) {
  const auto own = MakeSelfSigned({}, kNow);
  server_.Put(kPluggedInSecret, DataOf(**own));
  RootSecret secret = Make();
  const auto read = secret.Load(kNow);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE((*read)->self_signed);
  EXPECT_EQ(secret.Place(), "Secret istio-system/cacerts");
  EXPECT_FALSE(server_.secrets.contains(kOwnSecret));
}

TEST_F(RootSecretTest, ARootOfOurOwnMayGoIntoCacerts) {
  options_.use_cacerts = true;
  const auto made = Make().Load(kNow);
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(server_.secrets[kPluggedInSecret]["data"].contains("istio-generated"));
  const auto read = Make().Load(kNow);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)->self_signed);
  EXPECT_TRUE(SameCertificate((*made)->certificate, (*read)->certificate));
}

TEST_F(RootSecretTest, MistakesNameTheSecretAndNothingOfItsContent) {
  server_.Put(kOwnSecret, {{"ca-cert.pem", "no certificate"}, {"ca-key.pem", "hidden"}});
  const auto read = Make().Load(kNow);
  EXPECT_TRUE(absl::IsFailedPrecondition(read.status()));
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("Secret istio-system/istio-ca-secret"));
  EXPECT_THAT(std::string(read.status().message()), Not(HasSubstr("hidden")));
  server_.refusal = absl::PermissionDeniedError("the API server says 403");
  EXPECT_TRUE(absl::IsPermissionDenied(Make().Load(kNow).status()));
}

TEST_F(RootSecretTest, OfReplicasThatRenewOneWritesAndTheOtherReads) {
  RootSecret one = Make(), two = Make();
  const auto old = one.Load(kNow);
  ASSERT_TRUE(two.Load(kNow).ok());
  absl::StatusOr<BundlePtr> first = absl::UnknownError("");
  const auto second = two.Renew(**old, kNow + 100);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT((*second)->roots, SizeIs(2));
  first = one.Renew(**old, kNow + 100);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(SameCertificate((*first)->certificate, (*second)->certificate));
  EXPECT_THAT((*first)->roots, SizeIs(2));
}

TEST_F(RootSecretTest, AConflictWhileRenewingIsARead) {
  RootSecret one = Make();
  const auto old = one.Load(kNow);
  const auto other = RenewedRoot({}, **old, kNow + 50);
  server_.before_write = [&] { server_.Put(kOwnSecret, DataOf(**other)); };
  const auto renewed = one.Renew(**old, kNow + 100);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_TRUE(SameCertificate((*renewed)->certificate, (*other)->certificate));
}

TEST_F(RootSecretTest, ASecretThatIsGoneIsMadeAgainWithItsRoot) {
  RootSecret one = Make();
  const auto made = one.Load(kNow);
  server_.secrets.clear();
  const auto again = one.Reload(**made, kNow);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(SameCertificate((*made)->certificate, (*again)->certificate));
  const auto read = Make().Load(kNow);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(SameCertificate((*made)->certificate, (*read)->certificate));
}

TEST_F(RootSecretTest, AKeeperTakesWhatTheSecretSaysNow) {
  Authority authority({.default_lifetime = std::chrono::hours(1), .max_lifetime = std::chrono::hours(2)});
  KeeperOptions options;
  options.plugged_in = "/nonexistent";
  options.secret = options_;
  options.retry = std::chrono::hours(1);
  options.now = [] { return kNow; };
  Keeper keeper(std::move(options), &authority);
  ASSERT_TRUE(keeper.Start().ok());
  const BundlePtr first = authority.bundle();
  const auto other = MakeSelfSigned({}, kNow);
  server_.Put(kOwnSecret, DataOf(**other));
  keeper.OnSecretChanged();
  for (int i = 0; i < 400 && authority.bundle() == first; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(SameCertificate(authority.bundle()->certificate, (*other)->certificate));
  keeper.Stop();
}

}  // namespace
}  // namespace fairlead::ca
