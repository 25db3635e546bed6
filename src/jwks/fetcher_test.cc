#include "jwks/fetcher.h"

#include <gmock/gmock.h>

#include <condition_variable>

#include "base/metrics.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "jwks/key_server_fake.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::jwks {
namespace {

using config::Kind;
using istio::security::v1beta1::RequestAuthentication;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kKeys[] = R"({"keys": [{"kid": "1"}]})";

class FetcherTest : public mesh::MeshFixture {
 protected:
  void Start(Fetcher::Options options = {}) {
    fetcher_ = std::make_unique<Fetcher>(
        std::move(options),
        [this](model::KeySetsPtr known) {
          std::lock_guard lock(mutex_);
          known_ = std::move(known);
          changed_.notify_all();
        },
        [this] {
          std::lock_guard lock(mutex_);
          settled_ = true;
          changed_.notify_all();
        });
  }
  void PutRule(const std::string& name, const std::string& rule) {
    Put(Kind::kRequestAuthentication, "shop", name,
        mesh::Parse<RequestAuthentication>(StrCat("jwt_rules { ", rule, " }")));
  }
  // Whether it comes true.
  bool Await(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(60), condition);
  }
  bool AwaitKeys(const model::KeySource& source, const std::string& keys) {
    return Await([&] {
      if (known_ == nullptr) return keys.empty();
      const auto found = known_->find(source);
      return found == known_->end() ? keys.empty() : *found->second == keys;
    });
  }

  FakeKeyServer server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  model::KeySetsPtr known_;  // guarded by mutex_
  bool settled_ = false;     // guarded by mutex_
  std::unique_ptr<Fetcher> fetcher_;
};

TEST_F(FetcherTest, AMeshThatWantsNothingIsSettled) {
  Start();
  EXPECT_FALSE(fetcher_->Settled());
  fetcher_->Want(*Build());
  EXPECT_TRUE(fetcher_->Settled());
}

TEST_F(FetcherTest, KeysOfAUriArePublished) {
  server_.Answer("/keys", kKeys);
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/keys"), "'"));
  Start();
  fetcher_->Want(*Build());
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, kKeys));
  EXPECT_TRUE(Await([this] { return settled_; }));
  Remove(Kind::kRequestAuthentication, "shop", "r");
  fetcher_->Want(*Build());
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, "")) << "nobody wants them any more";
}

TEST_F(FetcherTest, AnIssuerSaysWhereItsKeysAre) {
  server_.Answer("/i/.well-known/openid-configuration",
                 StrCat("{\"jwks_uri\": \"", server_.Url("/keys"), "\"}"));
  server_.Answer("/keys", kKeys);
  PutRule("r", StrCat("issuer: '", server_.Url("/i/"), "'"));
  Start();
  fetcher_->Want(*Build());
  EXPECT_TRUE(AwaitKeys({{}, server_.Url("/i/")}, kKeys));
}

TEST_F(FetcherTest, WhatIsNoKeySetIsNotPublished) {
  server_.Answer("/secret", R"({"token": "of another"})");
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/secret"), "'"));
  PutRule("s", "issuer: 'no.url@example.com'");
  Start();
  fetcher_->Want(*Build());
  EXPECT_TRUE(Await([this] { return settled_; }));
  EXPECT_EQ(known_, nullptr);
}

TEST_F(FetcherTest, WhatFailedIsTriedAgain) {
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/keys"), "'"));
  Fetcher::Options options;
  options.schedule.first_retry = options.schedule.longest_retry = milliseconds(10);
  Start(options);
  fetcher_->Want(*Build());
  EXPECT_TRUE(Await([this] { return settled_; }));
  server_.Answer("/keys", kKeys);
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, kKeys));
}

TEST_F(FetcherTest, WhatIsFetchedAndWhatFailsIsCounted) {
  const metrics::Counter& fetched =
      metrics::GetCounter("pilot_jwks_resolver_network_fetch_success_total", "");
  const metrics::Counter& failed = metrics::GetCounter("pilot_jwks_resolver_network_fetch_fail_total", "");
  const double fetched_before = fetched.Value(), failed_before = failed.Value();
  server_.Answer("/keys", kKeys);
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/keys"), "'"));
  PutRule("s", StrCat("issuer: 'other' jwks_uri: '", server_.Url("/none"), "'"));
  Start();
  fetcher_->Want(*Build());
  EXPECT_TRUE(Await([this] { return settled_; }));
  EXPECT_EQ(fetched.Value() - fetched_before, 1);
  EXPECT_EQ(failed.Value() - failed_before, 1);
}

TEST_F(FetcherTest, KeysThatChangeArePublishedAgain) {
  server_.Answer("/keys", kKeys);
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/keys"), "'"));
  Fetcher::Options options;
  options.schedule.refresh = milliseconds(10);
  options.schedule.longest_retry = milliseconds(10);
  Start(options);
  fetcher_->Want(*Build());
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, kKeys));
  const std::string rotated = R"({"keys": [{"kid": "2"}]})";
  server_.Answer("/keys", rotated);
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, rotated));
}

TEST_F(FetcherTest, AServerThatDoesNotAnswerHoldsUpNobody) {
  server_.Stall("/slow");
  server_.Answer("/keys", kKeys);
  PutRule("slow", StrCat("issuer: 'a' jwks_uri: '", server_.Url("/slow"), "' timeout { seconds: 30 }"));
  PutRule("r", StrCat("issuer: 'me' jwks_uri: '", server_.Url("/keys"), "'"));
  Fetcher::Options options;
  options.settle = milliseconds(20);
  Start(options);
  fetcher_->Want(*Build());
  EXPECT_TRUE(AwaitKeys({server_.Url("/keys"), {}}, kKeys));
  EXPECT_TRUE(Await([this] { return settled_; })) << "though one was not tried to its end";
}

}  // namespace
}  // namespace fairlead::jwks
