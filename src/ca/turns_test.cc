#include "ca/turns.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <vector>

#include "ca/certificate_method.h"

namespace fairlead::ca {
namespace {

using testing::ElementsAre;

// An executor of one thread that does nothing until it is let go.
class TurnsTest : public testing::Test {
 protected:
  TurnsTest() {
    executor_.Submit(Urgency::kUrgent, [this] {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return open_; });
    });
  }
  ~TurnsTest() override { LetGo(); }
  bool Add(const std::string& peer, const std::string& name) {
    return turns_->Add(peer, [this, name] {
      std::lock_guard lock(mutex_);
      done_.push_back(name);
      changed_.notify_all();
    });
  }
  void LetGo() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::vector<std::string> Done(size_t count) {
    LetGo();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return done_.size() >= count; });
    return done_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::vector<std::string> done_;
  Executor executor_{"turns", 1};
  std::shared_ptr<Turns> turns_ =
      std::make_shared<Turns>(&executor_, Turns::Limits{.most_of_one = 3, .most = 5});
};

TEST_F(TurnsTest, WhoComesLastIsServedAfterOneOfEachOther) {
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_TRUE(Add("a", name));
  EXPECT_TRUE(Add("b", "b1"));
  EXPECT_THAT(Done(4), ElementsAre("a1", "b1", "a2", "a3"));
}

TEST_F(TurnsTest, OnePeerHasSoManyWaitingAndAllTogetherSoMany) {
  for (const char* name : {"a1", "a2", "a3"}) EXPECT_TRUE(Add("a", name));
  EXPECT_FALSE(Add("a", "a4"));
  EXPECT_TRUE(Add("b", "b1"));
  EXPECT_TRUE(Add("c", "c1"));
  EXPECT_FALSE(Add("d", "d1")) << "five wait";
  EXPECT_EQ(Done(5).size(), 5u);
  EXPECT_TRUE(Add("a", "a5")) << "nobody waits any more";
}

TEST(WaitsAs, ACertificateElseTheAddress) {
  Credentials credentials;
  credentials.address = "ipv4:10.0.0.1:43210";
  credentials.authorization = "Bearer anything";
  EXPECT_EQ(WaitsAs(credentials), "ipv4:10.0.0.1");
  credentials.certificate_uris = {"spiffe://cluster.local/ns/shop/sa/web"};
  EXPECT_EQ(WaitsAs(credentials), "ipv4:10.0.0.1") << "not verified";
  credentials.verified_certificate = true;
  EXPECT_EQ(WaitsAs(credentials), "spiffe://cluster.local/ns/shop/sa/web");
  credentials.verified_certificate = false;
  credentials.address = "ipv6:%5Bfd00::1%5D:43210";
  EXPECT_EQ(WaitsAs(credentials), "ipv6:%5Bfd00::1%5D");
}

}  // namespace
}  // namespace fairlead::ca
