#include "push/stream/connection_observer.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "push/push_fakes.h"
#include "push/stream/pusher.h"

// Who is told of clients, and may keep them waiting.
namespace fairlead::push {
namespace {

using namespace std::chrono_literals;
using xds::TypeId;

class ObserverFake : public ConnectionObserver {
 public:
  bool OnConnected(uint64_t stream, const model::ProxyPtr& proxy, std::chrono::system_clock::time_point,
                   Ready ready) override {
    Note(StrCat("connected ", stream, " ", proxy->id));
    if (!wants) return false;
    std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
    return true;
  }
  void OnHealth(uint64_t stream, bool healthy, std::string_view message) override {
    Note(StrCat(healthy ? "healthy " : "unhealthy ", stream, " ", message));
  }
  void OnDisconnected(uint64_t stream) override { Note(StrCat("disconnected ", stream)); }
  void Answer(const absl::Status& status) {
    Ready ready;
    {
      std::lock_guard lock(mutex_);
      ready = std::exchange(ready_, nullptr);
    }
    ready(status);
  }
  std::vector<std::string> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }
  bool Awaits(size_t count) {
    return Eventually([&] { return told().size() >= count; });
  }
  bool wants = true;

 private:
  void Note(std::string text) {
    std::lock_guard lock(mutex_);
    told_.push_back(std::move(text));
  }
  std::mutex mutex_;
  std::vector<std::string> told_;
  Ready ready_;
};

std::string HealthReport(const std::string& error) {
  envoy::service::discovery::v3::DiscoveryRequest request;
  request.set_type_url("type.googleapis.com/istio.v1.HealthInformation");
  if (!error.empty()) request.mutable_error_detail()->set_message(error);
  return request.SerializeAsString();
}

class ConnectionObserverTest : public ::testing::Test {
 protected:
  ConnectionObserverTest() {
    mesh_.Put(TypeId::kEndpoint, "a", "1");
    PusherOptions options = MakeFakeOptions();
    options.connections = &observer_;
    pusher_.reset(new Pusher(std::move(options), MakeFakeGenerators(&mesh_)));
    pusher_->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
    proxy_->Connect(pusher_.get());
  }
  using Told = std::vector<std::string>;

  FakeMesh mesh_;
  ObserverFake observer_;
  OwnedPusher pusher_;
  std::shared_ptr<FakeProxy> proxy_ = std::make_shared<FakeProxy>();
};

TEST_F(ConnectionObserverTest, AClientGetsNothingBeforeItIsLetIn) {
  proxy_->Ask(TypeId::kEndpoint, {"a"});
  ASSERT_TRUE(observer_.Awaits(1));
  pusher_->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(mesh_.generated, 0);
  EXPECT_TRUE(pusher_->Report().empty());
  observer_.Answer(absl::OkStatus());
  EXPECT_EQ(proxy_->Await(0).resources_size(), 1);
  proxy_->HangUp();
  EXPECT_EQ(observer_.told(), (Told{"connected 1 a.default", "disconnected 1"}));
}

TEST_F(ConnectionObserverTest, OneThatIsRefusedIsClosedWithTheReason) {
  proxy_->Ask(TypeId::kEndpoint, {"a"});
  ASSERT_TRUE(observer_.Awaits(1));
  observer_.Answer(absl::FailedPreconditionError("no group"));
  ASSERT_TRUE(proxy_->AwaitClosed());
  EXPECT_TRUE(absl::IsFailedPrecondition(proxy_->status()));
  pusher_->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(mesh_.generated, 0);
  proxy_->HangUp();
}

TEST_F(ConnectionObserverTest, OneThatGoesWhileItWaitsIsToldOnce) {
  proxy_->Ask(TypeId::kEndpoint, {"a"});
  ASSERT_TRUE(observer_.Awaits(1));
  proxy_->HangUp();
  EXPECT_EQ(observer_.told(), (Told{"connected 1 a.default", "disconnected 1"}));
  observer_.Answer(absl::OkStatus());
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(mesh_.generated, 0);
}

TEST_F(ConnectionObserverTest, HealthIsToldOfThoseThatItCaresAbout) {
  proxy_->Say(HealthReport("before it said who it is"));
  proxy_->Ask(TypeId::kEndpoint, {"a"});
  ASSERT_TRUE(observer_.Awaits(1));
  observer_.Answer(absl::OkStatus());
  proxy_->Await(0);
  proxy_->Say(HealthReport("refused"));
  proxy_->Say(HealthReport(""));
  ASSERT_TRUE(observer_.Awaits(3));
  EXPECT_EQ(observer_.told(), (Told{"connected 1 a.default", "unhealthy 1 refused", "healthy 1 "}));
  proxy_->HangUp();
}

TEST_F(ConnectionObserverTest, OthersAreServedAtOnceAndNeverMentionedAgain) {
  observer_.wants = false;
  proxy_->Ask(TypeId::kEndpoint, {"a"});
  EXPECT_EQ(proxy_->Await(0).resources_size(), 1);
  proxy_->Say(HealthReport("refused"));
  proxy_->HangUp();
  EXPECT_EQ(observer_.told(), Told{"connected 1 a.default"});
}

}  // namespace
}  // namespace fairlead::push
