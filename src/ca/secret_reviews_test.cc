#include "ca/secret_reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/eventually_fixture.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::ca {
namespace {

using namespace std::chrono_literals;
using model::ClusterAccount;
using model::SecretAccess;

class SecretReviewsTest : public testing::Test {
 protected:
  ~SecretReviewsTest() override {
    if (reviews_ != nullptr) reviews_->Stop();
  }
  void Start() {
    options_.send = [this](const std::string& cluster, const kube::ApiRequest& request, const auto& done) {
      kube::ApiAnswer answer;
      {
        std::lock_guard lock(mutex_);
        asked_.push_back(StrCat(cluster, ":", JsonString((*ParseJson(request.body))["spec"], "user")));
        answer.status = status_;
        answer.body = StrCat(R"({"status":{"allowed":)", allowed_ ? "true" : "false", "}}");
      }
      done(answer);
    };
    options_.take = [this](model::SecretReadersPtr readers) {
      std::lock_guard lock(mutex_);
      readers_ = std::move(readers);
    };
    options_.gather = 1ms;
    options_.first_retry = 5ms;
    reviews_ = std::make_shared<SecretReviews>(options_);
    reviews_->Start();
  }
  SecretAccess Of(const ClusterAccount& who) {
    std::lock_guard lock(mutex_);
    const auto found = readers_->verdicts.find(who);
    return found == readers_->verdicts.end() ? SecretAccess::kUnknown : found->second;
  }
  bool Becomes(const ClusterAccount& who, SecretAccess access) {
    return Eventually([&] { return Of(who) == access; });
  }
  void Say(bool allowed, absl::Status status = absl::OkStatus()) {
    std::lock_guard lock(mutex_);
    allowed_ = allowed;
    status_ = std::move(status);
  }
  std::vector<std::string> asked() {
    std::lock_guard lock(mutex_);
    return asked_;
  }

  std::mutex mutex_;
  SecretReviewOptions options_;
  bool allowed_ = true;
  absl::Status status_;
  std::vector<std::string> asked_;
  model::SecretReadersPtr readers_;
  std::shared_ptr<SecretReviews> reviews_;
  const ClusterAccount gateway_{"", "shop/gw"};
};

TEST_F(SecretReviewsTest, AnAccountIsAskedAboutOnceItWantsSecrets) {
  Start();
  ASSERT_NE(readers_, nullptr) << "at once: nobody may have anything without a verdict";
  EXPECT_EQ(readers_->reviewer, reviews_);
  EXPECT_TRUE(asked().empty());
  reviews_->Want(gateway_);
  reviews_->Want(gateway_);
  ASSERT_TRUE(Becomes(gateway_, SecretAccess::kAllowed));
  EXPECT_THAT(asked(), testing::ElementsAre(":system:serviceaccount:shop:gw"));
  Say(false);
  reviews_->Want({"east", "shop/gw"});
  ASSERT_TRUE(Becomes({"east", "shop/gw"}, SecretAccess::kDenied));
  EXPECT_EQ(asked().back(), "east:system:serviceaccount:shop:gw");
  EXPECT_EQ(Of(gateway_), SecretAccess::kAllowed) << "a verdict is of one cluster";
}

TEST_F(SecretReviewsTest, AVerdictIsAskedForAnew) {
  options_.keep_allowed = options_.keep_denied = 30ms;
  Start();
  reviews_->Want(gateway_);
  ASSERT_TRUE(Becomes(gateway_, SecretAccess::kAllowed));
  Say(false);
  ASSERT_TRUE(Becomes(gateway_, SecretAccess::kDenied));
  Say(true, absl::UnavailableError("down"));
  const size_t before = asked().size();
  ASSERT_TRUE(Eventually([&] { return asked().size() > before + 2; }));
  EXPECT_EQ(Of(gateway_), SecretAccess::kDenied) << "a server that is down says nothing new";
  Say(true);
  EXPECT_TRUE(Becomes(gateway_, SecretAccess::kAllowed));
}

TEST_F(SecretReviewsTest, WithoutAVerdictItIsAskedAgain) {
  Say(true, absl::PermissionDeniedError("fairlead may not ask"));
  Start();
  reviews_->Want(gateway_);
  ASSERT_TRUE(Eventually([&] { return asked().size() >= 3; }));
  EXPECT_EQ(Of(gateway_), SecretAccess::kUnknown);
  Say(true);
  EXPECT_TRUE(Becomes(gateway_, SecretAccess::kAllowed));
}

TEST_F(SecretReviewsTest, OtherClustersMayBeLeftOutAndAccountsAreBounded) {
  options_.other_clusters = false;
  options_.most = 2;
  Start();
  reviews_->Want({"east", "shop/gw"});
  ASSERT_TRUE(Becomes({"east", "shop/gw"}, SecretAccess::kDenied));
  EXPECT_TRUE(asked().empty());
  reviews_->Want(gateway_);
  ASSERT_TRUE(Becomes(gateway_, SecretAccess::kAllowed));
  reviews_->Want({"", "shop/third"});
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(Of({"", "shop/third"}), SecretAccess::kUnknown);
}

}  // namespace
}  // namespace fairlead::ca
