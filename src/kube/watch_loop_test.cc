#include "kube/watch_loop.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/strings.h"

// Watches of a server that is away and comes back.
namespace fairlead::kube {
namespace {

using namespace std::chrono_literals;

class Silent : public ListWatch::Receiver {
 public:
  void OnListBegin() override {}
  void OnObject(config::Node /*object*/) override {}
  void OnListEnd() override {}
  void OnGone(config::Node /*object*/) override {}
};

class WatchLoopTest : public ::testing::Test {
 protected:
  WatchLoopTest() {
    server_.set_keep_alive_timeout(1);
    port_ = server_.bind_to_any_port("127.0.0.1");
    server_.Get(".*", [this](const httplib::Request&, httplib::Response& response) {
      response.status = status_;
      response.set_content(R"({"metadata":{"resourceVersion":"1"},"items":[]})", "application/json");
    });
    ServerAccess access;
    access.server = StrCat("http://127.0.0.1:", port_);
    access.proxy = "";
    WatchLoop::Options options;
    options.watches.first_backoff = options.watches.most_backoff = 60s;
    options.watches.list_silence = 200ms;
    loop_ = std::make_unique<WatchLoop>(options, access, &client_);
    for (WatchLoop::Id& id : ids_) id = loop_->Add(StrCat("/api/v1/", &id - ids_), nullptr, &receiver_);
  }
  ~WatchLoopTest() override {
    loop_.reset();
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void ComeBack() {
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(1ms);
  }
  template <typename Holds>
  bool RunUntil(Holds&& holds, ListWatch::Milliseconds most) {
    const auto end = ListWatch::Clock::now() + most;
    while (!holds() && ListWatch::Clock::now() < end) loop_->Run(ListWatch::Clock::now() + 10ms);
    return holds();
  }
  size_t Synced() const {
    size_t count = 0;
    for (const WatchLoop::Id id : ids_) count += loop_->Find(id)->synced() ? 1 : 0;
    return count;
  }
  bool AllFailed() const {
    for (const WatchLoop::Id id : ids_) {
      if (loop_->Find(id)->failures() == 0) return false;
    }
    return true;
  }

  httplib::Server server_;
  int port_ = 0, status_ = 200;
  std::thread thread_;
  fetch::Client client_;
  Silent receiver_;
  std::unique_ptr<WatchLoop> loop_;
  WatchLoop::Id ids_[3];
};

// The port is bound, so connections are made, but nothing answers.
TEST_F(WatchLoopTest, OneAnswerAfterALossEndsTheWaitOfAll) {
  ASSERT_TRUE(RunUntil([this] { return AllFailed(); }, 10s));
  ComeBack();
  EXPECT_FALSE(RunUntil([this] { return Synced() > 0; }, 300ms)) << "each waits for a while";
  loop_->Hurry(ids_[1]);
  EXPECT_TRUE(RunUntil([this] { return Synced() == 3; }, 10s)) << Synced();
}

TEST_F(WatchLoopTest, AServerThatIsBusyIsNotHurried) {
  ASSERT_TRUE(RunUntil([this] { return AllFailed(); }, 10s));
  status_ = 429;
  ComeBack();
  loop_->Hurry(ids_[1]);
  ASSERT_TRUE(
      RunUntil([this] { return loop_->Find(ids_[1])->trouble() == ListWatch::Trouble::kServer; }, 10s));
  RunUntil([] { return false; }, 300ms);
  EXPECT_EQ(loop_->Find(ids_[0])->failures(), 1u);
  EXPECT_EQ(loop_->Find(ids_[2])->failures(), 1u);
}

// One event comes after the other, each at once.
class StormTest : public ::testing::Test {
 protected:
  static constexpr int kEvents = 100;

  StormTest() {
    const int port = server_.bind_to_any_port("127.0.0.1");
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      if (request.has_param("watch")) return Watch(response);
      response.set_content(R"({"metadata":{"resourceVersion":"1"},"items":[]})", "application/json");
    });
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(1ms);
    ServerAccess access;
    access.server = StrCat("http://127.0.0.1:", port);
    access.proxy = "";
    loop_ = std::make_unique<WatchLoop>(WatchLoop::Options{}, access, &client_);
    loop_->Add("/api/v1/pods", nullptr, &receiver_);
  }
  ~StormTest() override {
    stopping_ = true;
    loop_.reset();
    server_.stop();
    thread_.join();
  }
  void Watch(httplib::Response& response) {
    response.set_chunked_content_provider("application/json", [this, sent = 0](
                                                                  size_t, httplib::DataSink& sink) mutable {
      std::this_thread::sleep_for(1ms);
      if (stopping_) sink.done();
      if (sent == kEvents) return true;
      const std::string event = StrCat(
          R"({"type":"ADDED","object":{"metadata":{"name":"n","resourceVersion":")", 10 + sent++, "\"}}}\n");
      return sink.write(event.data(), event.size());
    });
  }

  struct Counting : Silent {
    void OnObject(config::Node /*object*/) override { ++objects; }
    int objects = 0;
  };
  httplib::Server server_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  fetch::Client client_;
  Counting receiver_;
  std::unique_ptr<WatchLoop> loop_;
};

TEST_F(StormTest, EventsAreTakenSomeAtATime) {
  int batches = 0;
  const auto end = ListWatch::Clock::now() + 20s;
  while (receiver_.objects < kEvents && ListWatch::Clock::now() < end) {
    const int before = receiver_.objects;
    loop_->Run(end);
    batches += receiver_.objects > before ? 1 : 0;
  }
  EXPECT_EQ(receiver_.objects, kEvents);
  EXPECT_LT(batches, kEvents / 2);
}

}  // namespace
}  // namespace fairlead::kube
