#include "rpc/http_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <future>

#include "base/thread_fake.h"

// By a real HTTP client.
namespace fairlead::rpc {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void StartServer() {
    server_.Get("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
    ASSERT_TRUE(server_.Start("127.0.0.1:0").ok());
  }
  void ExpectReady() {
    httplib::Client client("127.0.0.1", server_.port());
    client.set_read_timeout(20);
    const auto answer = client.Get("/ready");
    ASSERT_TRUE(answer) << to_string(answer.error());
    EXPECT_EQ(answer->body, "yes");
  }

  HttpServer server_;
};

TEST_F(HttpServerTest, GoesOnWhereTheSystemHasNoMoreThreads) {
  StartServer();
  const NoMoreThreads none;
  httplib::Client silent("127.0.0.1", server_.port());
  ExpectReady();
  ExpectReady();
}

// A thread that waits for an idle client's next request is one less for the others.
TEST_F(HttpServerTest, AConnectionIsOneRequest) {
  StartServer();
  httplib::Client client("127.0.0.1", server_.port());
  client.set_keep_alive(true);
  const auto answer = client.Get("/ready");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->get_header_value("Connection"), "close");
}

TEST_F(HttpServerTest, ConnectionsBeyondTheMostWait) {
  HttpServer server({.max_connections = 1});
  std::promise<void> entered, leave;
  server.Post("/poll", [&](const HttpRequest&) {
    entered.set_value();
    leave.get_future().wait();
    return HttpResponse{304, "", "", "7"};
  });
  server.Get("/ready", [](const HttpRequest&) { return HttpResponse{200, "yes"}; });
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  httplib::Client poller("127.0.0.1", server.port()), prober("127.0.0.1", server.port());
  poller.set_read_timeout(60);
  auto poll = std::async(std::launch::async, [&] { return poller.Post("/poll"); });
  entered.get_future().wait();
  prober.set_read_timeout(0, 50000);
  EXPECT_FALSE(prober.Get("/ready")) << "there is no thread for it";
  leave.set_value();
  EXPECT_EQ(poll.get()->get_header_value("Retry-After"), "7");
  prober.set_read_timeout(60);
  EXPECT_TRUE(prober.Get("/ready"));
}

TEST_F(HttpServerTest, DoesNotStartWithoutAThread) {
  const NoMoreThreads none;
  EXPECT_EQ(server_.Start("127.0.0.1:0").code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace fairlead::rpc
